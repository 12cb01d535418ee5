// SPDX-License-Identifier: BSD-3-Clause
// Names in a folder that other jobs see.
#include "sinew/dynamic/names.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "sinew/base/error.hpp"

namespace sinew::dynamic {
namespace {

class published_names : public ::testing::Test {
 protected:
  published_names() {
    std::string made = (std::filesystem::temp_directory_path() / "sinew-names-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
  }
  ~published_names() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] names_folder names() const { return names_folder::wanted(folder_, "").value(); }
  std::string folder_;
};

TEST_F(published_names, are_found_until_they_are_taken_back) {
  EXPECT_FALSE(names().lookup("ocean").has_value());
  EXPECT_TRUE(names().publish("ocean", "a port"));
  EXPECT_EQ(names().lookup("ocean"), "a port");
  EXPECT_FALSE(names().publish("ocean", "another")) << "published twice";
  EXPECT_EQ(names().lookup("ocean"), "a port");
  EXPECT_TRUE(names().unpublish("ocean"));
  EXPECT_FALSE(names().unpublish("ocean"));
  EXPECT_FALSE(names().lookup("ocean").has_value());
}

TEST_F(published_names, may_have_any_character_and_any_length) {
  const std::string odd[] = {"../../etc/passwd", "a b\tc", "%2e", std::string(5000, 'x'),
                             std::string(5000, 'x') + "y"};
  for (const std::string& each : odd) {
    EXPECT_TRUE(names().publish(each, "port of " + each.substr(0, 20)));
  }
  for (const std::string& each : odd) {
    EXPECT_EQ(names().lookup(each), "port of " + each.substr(0, 20));
  }
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(file.path().extension(), ".name");
  }
}

TEST_F(published_names, of_a_process_that_has_ended_are_free) {
  ASSERT_TRUE(names().publish("ice", "old"));
  const std::string file = folder_ + "/ice.name";
  std::string machine;
  std::ifstream(file) >> machine;
  std::ofstream(file) << machine << " 1 12345\nold\n";  // the first process has not started then
  EXPECT_FALSE(names().lookup("ice").has_value());
  EXPECT_TRUE(names().publish("ice", "new"));
  EXPECT_EQ(names().lookup("ice"), "new");
}

TEST_F(published_names, go_to_no_folder_that_others_can_write) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  EXPECT_THROW((void)names(), error);
  EXPECT_THROW((void)names_folder::wanted(folder_ + "/none/below", ""), error);
}

TEST_F(published_names, are_the_jobs_own_unless_more_is_asked_for) {
  EXPECT_FALSE(names_folder::wanted("", "").has_value());
  EXPECT_FALSE(names_folder::wanted("", "false").has_value());
  ::setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  EXPECT_TRUE(names_folder::wanted("", "true").has_value());
  EXPECT_TRUE(names_folder::wanted("user", "").has_value());
  EXPECT_TRUE(std::filesystem::is_directory(folder_ + "/sinew-names"));
}

}  // namespace
}  // namespace sinew::dynamic
