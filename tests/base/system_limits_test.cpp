// SPDX-License-Identifier: BSD-3-Clause
// What a message says of the limit that a call ran into.
#include "sinew/base/system_limits.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace sinew::base {
namespace {

class system_limits : public ::testing::Test {
 protected:
  ~system_limits() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  std::string root_ =
      std::filesystem::temp_directory_path() / ("sinew-limits-" + std::to_string(::getpid()));
};

TEST_F(system_limits, names_the_group_that_is_full) {
  write("/proc/self/cgroup", "0::/user/job\n");
  write("/sys/fs/cgroup/user/job/pids.max", "max\n");
  write("/sys/fs/cgroup/user/job/pids.current", "7\n");
  write("/sys/fs/cgroup/user/pids.max", "9\n");
  write("/sys/fs/cgroup/user/pids.current", "9\n");
  EXPECT_NE(system_reason(EAGAIN, root_).find("all the 9 processes"), std::string::npos);
  EXPECT_NE(system_advice(EAGAIN, "", root_).find("pids.max of /sys/fs/cgroup/user ("),
            std::string::npos)
      << system_advice(EAGAIN, "", root_);
}

TEST_F(system_limits, of_version_1_and_of_no_group) {
  write("/proc/self/cgroup", "4:memory:/x\n8:pids:/a\n0::/\n");
  write("/sys/fs/cgroup/pids/a/pids.max", "5\n");
  write("/sys/fs/cgroup/pids/a/pids.current", "5\n");
  EXPECT_NE(system_advice(EAGAIN, "", root_).find("/pids/a ("), std::string::npos);
  write("/sys/fs/cgroup/pids/a/pids.current", "4\n");
  EXPECT_NE(system_advice(EAGAIN, "", root_).find("ulimit -u"), std::string::npos);
}

TEST_F(system_limits, of_files_and_of_what_is_no_limit) {
  EXPECT_NE(system_reason(EMFILE).find("(ulimit -n)"), std::string::npos);
  EXPECT_EQ(system_advice(EMFILE, "choose another"), "raise that limit");
  EXPECT_EQ(system_advice(EACCES, "choose another"), "choose another");
}

}  // namespace
}  // namespace sinew::base
