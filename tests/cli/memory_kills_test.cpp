// SPDX-License-Identifier: BSD-3-Clause
// Where the kernel's count of processes killed for want of memory is looked for.
#include "sinew/run/memory_kills.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sinew/run/terminal_text.hpp"

namespace sinew::tool {
namespace {

class kills : public ::testing::Test {
 protected:
  ~kills() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  std::string root_ =
      std::filesystem::temp_directory_path() / ("sinew-kills-" + std::to_string(::getpid()));
};

TEST_F(kills, of_a_group_of_version_2) {
  write("/proc/self/cgroup", "0::/user/job\n");
  write("/proc/vmstat", "oom_kill 7\n");
  write("/sys/fs/cgroup/user/job/memory.events", "low 0\noom 2\noom_kill 1\noom_group_kill 0\n");
  memory_kills counter(root_);
  EXPECT_FALSE(counter.rose());
  write("/sys/fs/cgroup/user/job/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n");
  EXPECT_TRUE(counter.rose());
  EXPECT_FALSE(counter.rose());
}

TEST_F(kills, of_a_group_of_version_1) {
  write("/proc/self/cgroup", "5:cpu,memory:/a:b\n0::/\n");
  write("/sys/fs/cgroup/memory/a:b/memory.oom_control", "under_oom 0\noom_kill 0\n");
  memory_kills counter(root_);
  write("/sys/fs/cgroup/memory/a:b/memory.oom_control", "under_oom 0\noom_kill 1\n");
  EXPECT_TRUE(counter.rose());
}

TEST_F(kills, inside_a_container_whose_path_is_the_hosts) {
  write("/proc/self/cgroup", "0::/../host/path\n");
  write("/sys/fs/cgroup/memory.events", "oom_kill 0\n");
  memory_kills counter(root_);
  write("/sys/fs/cgroup/memory.events", "oom_kill 1\n");
  EXPECT_TRUE(counter.rose());
}

TEST_F(kills, of_the_machine_or_unknown) {
  write("/proc/vmstat", "pgfault 9\noom_kill 3\n");
  memory_kills counter(root_);
  write("/proc/vmstat", "pgfault 10\noom_kill 4\n");
  EXPECT_TRUE(counter.rose());
  std::filesystem::remove_all(root_);
  memory_kills none(root_);
  EXPECT_FALSE(none.rose());
}

TEST(terminal_text, keeps_what_is_text) {
  EXPECT_EQ(terminal_text("plain\n\ttext"), "plain\n\ttext");
  EXPECT_EQ(terminal_text("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8d"),
            "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8d");
}

TEST(terminal_text, shows_what_a_terminal_would_obey) {
  EXPECT_EQ(terminal_text("\x1b[2J\r\x7f"), "\\x1b[2J\\x0d\\x7f");
  EXPECT_EQ(terminal_text("\xc2\x9b"
                          "1m"),
            "\\xc2\\x9b1m");  // U+009B
  EXPECT_EQ(terminal_text("\x9b"
                          "1m"),
            "\\x9b1m");                                         // the same as one byte
  EXPECT_EQ(terminal_text("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");  // and written too long
  EXPECT_EQ(terminal_text("\xed\xa0\x80\xc3"), "\\xed\\xa0\\x80\\xc3");
  EXPECT_EQ(terminal_text(std::string_view("a\0b", 3)), "a\\x00b");
}

}  // namespace
}  // namespace sinew::tool
