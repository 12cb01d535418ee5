// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/p2p/steering.hpp"

#include <gtest/gtest.h>

#include "sinew/base/error.hpp"

namespace sinew::p2p {
namespace {

TEST(steering, texts_and_back) {
  const source_match match = parse_match("10:2=1");
  EXPECT_EQ(match.rank, job_rank{10});
  EXPECT_EQ(match.number, 2);
  EXPECT_EQ(match.sender, comm_rank{1});
  EXPECT_EQ(to_text(match), "10:2=1");
  EXPECT_EQ(to_text(std::vector<source_match>{match, parse_match("0:1=0")}), "10:2=1,0:1=0");
  for (const char* const text : {"", ":", "=", "0:1", "0=1", "0:0=1", "-1:1=1", "0:1=-1",
                                 "0:1=", "0:1=1x", "99999999999:1=1"}) {
    EXPECT_THROW((void)parse_match(text), error) << text;
  }
}

}  // namespace
}  // namespace sinew::p2p
