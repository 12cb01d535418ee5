// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/process_object.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sinew/base/error.hpp"

namespace sinew {
namespace {

void* make(void* context) { return context; }

TEST(process_object, is_one_for_all_users) {
  int first = 0;
  int second = 0;
  EXPECT_EQ(process_object::join("test: one", "a", make, &first), &first);
  EXPECT_EQ(process_object::join("test: one", "a", make, &second), &first);
  EXPECT_EQ(process_object::leave("test: one"), nullptr);
  EXPECT_EQ(process_object::leave("test: one"), &first);
}

TEST(process_object, another_build_is_refused) {
  int object = 0;
  EXPECT_EQ(process_object::join("test: builds", "0.1.0-a", make, &object), &object);
  try {
    (void)process_object::join("test: builds", "0.1.0-b", make, &object);
    FAIL() << "the second build must be refused";
  } catch (const error& e) {
    const std::string said = e.what();
    EXPECT_NE(said.find("two builds of Sinew"), std::string::npos) << said;
    EXPECT_NE(said.find("0.1.0-a"), std::string::npos) << said;
    EXPECT_NE(said.find("0.1.0-b"), std::string::npos) << said;
  }
  // The refused one is no user.
  EXPECT_EQ(process_object::leave("test: builds"), &object);
}

}  // namespace
}  // namespace sinew
