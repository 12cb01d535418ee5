// SPDX-License-Identifier: BSD-3-Clause
// What limits the number of fibers: memory of the machine or of a control group, mappings.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fiber/memory_limit.hpp"
#include "fiber/stacks.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace sinew::fiber {
namespace {

/// A folder that stands for the root of the file system.
class limits : public testing::Test {
 protected:
  limits() {
    std::string name = testing::TempDir() + "limitsXXXXXX";
    root_ = ::mkdtemp(name.data());
  }
  ~limits() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path at = root_ + path;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text << "\n";
  }
  std::string root_;
};

TEST_F(limits, of_a_control_group_and_those_around_it) {
  const std::uint64_t machine = memory_limit(root_);
  EXPECT_GT(machine, 1U << 26U);
  put("/proc/self/cgroup", "0::/jobs/one");
  put("/sys/fs/cgroup/jobs/one/memory.max", "max");
  EXPECT_EQ(memory_limit(root_), machine);
  put("/sys/fs/cgroup/jobs/memory.max", "4194304");
  EXPECT_EQ(memory_limit(root_), 4194304U);
  put("/sys/fs/cgroup/jobs/one/memory.max", "1048576");
  EXPECT_EQ(memory_limit(root_), 1048576U);
}

TEST_F(limits, of_a_group_of_version_1) {
  put("/proc/self/cgroup", "9:cpu,cpuacct:/a\n4:memory:/a/b");
  put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2097152");
  EXPECT_EQ(memory_limit(root_), 2097152U);
}

TEST_F(limits, what_is_used_already_is_not_there_but_for_pages_of_files) {
  put("/proc/self/cgroup", "4:memory:/a");
  put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2000000");
  put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "900000");
  EXPECT_EQ(memory_limit(root_), 1100000U);
  put("/sys/fs/cgroup/memory/a/memory.stat",
      "cache 5\nactive_file 7\ntotal_active_file 100000\ntotal_inactive_file 200000");
  EXPECT_EQ(memory_limit(root_), 1400000U);
  put("/proc/self/cgroup", "0::/b");
  put("/sys/fs/cgroup/b/memory.max", "2000000");
  put("/sys/fs/cgroup/b/memory.current", "2500000");
  EXPECT_EQ(memory_limit(root_), 0U);
  put("/sys/fs/cgroup/b/memory.stat", "anon 5\ninactive_file 1000000\nactive_file 500000");
  EXPECT_EQ(memory_limit(root_), 1000000U);
}

TEST_F(limits, of_the_machine_are_what_it_can_still_give) {
  put("/proc/meminfo", "MemTotal: 900 kB\nMemAvailable:     400 kB\nSwapFree: 100 kB");
  EXPECT_EQ(memory_limit(root_), 500U << 10U);
}

TEST(limits_of_fibers, with_guards_cost_the_kernel_more) {
  EXPECT_EQ(stacks_within(0, 100), 0U);
  EXPECT_EQ(stacks_within(1U << 20U, 1000), (1U << 20U) / 32 * 31 / 8192 * 4096);
  EXPECT_EQ(stacks_within(1U << 20U, 0), (1U << 20U) / 32 * 31 / 5120 * 4096);
  EXPECT_GT(stacks_within(5ULL << 30U, 16384) / 4096, 1'000'000U);
}

TEST_F(limits, fewer_mappings_mean_fewer_guards) {
  EXPECT_EQ(guards_within_limit(16384, root_).stacks, 16384) << "the kernel does not say";
  put("/proc/sys/vm/max_map_count", "65530");
  EXPECT_EQ(guards_within_limit(16384, root_).stacks, 16384);
  put("/proc/sys/vm/max_map_count", "8000");
  EXPECT_EQ(guards_within_limit(16384, root_).stacks, 2064);
  EXPECT_EQ(guards_within_limit(16384, root_).chunks, 1000);
  EXPECT_EQ(guards_within_limit(100, root_).stacks, 100);
}

int count_mappings() {
  std::ifstream in("/proc/self/maps");
  int lines = 0;
  for (std::string line; std::getline(in, line);) {
    ++lines;
  }
  return lines;
}

TEST(limits_of_fibers, chunks_without_guards_take_no_mappings_of_their_own) {
  constexpr std::uint32_t chunks = 64;
  constexpr std::int64_t apart = 4;
  stacks all(0, {.stacks = 0, .chunks = apart}, std::uint64_t{1} << 40U);
  stacks::cursor from;
  const int before = count_mappings();
  for (std::uint32_t i = 0; i < chunks * slots_per_chunk; ++i) {
    ASSERT_NE(all.carve(from, 0), nullptr);
  }
  EXPECT_LT(count_mappings() - before, 2 * apart + 8);
}

TEST(limits_of_fibers, a_sentence_where_the_system_gives_none) {
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  testing::internal::CaptureStderr();
  {
    stacks all(0, {}, std::uint64_t{1} << 40U);
    stacks::cursor from;
    ASSERT_NE(all.carve(from, 0), nullptr);
    struct rlimit none = before;
    none.rlim_cur = 1;
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &none), 0);
    bool refused = false;
    for (std::uint32_t i = 0; i <= slots_per_chunk && !refused; ++i) {
      refused = all.carve(from, 0) == nullptr;
    }
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_TRUE(refused);
    EXPECT_NE(all.carve(from, 0), nullptr) << "nothing has changed";
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("no memory for stacks of more fibers"), std::string::npos) << said;
}

TEST(limits_of_fibers, a_sentence_and_no_memory_when_it_is_used_up) {
  setting_base* const memory = settings::find("SINEW_FIBER_MEMORY");
  ASSERT_NE(memory, nullptr);
  memory->set("8M", setting_origin::program);
  std::vector<fiber*> made;
  testing::internal::CaptureStderr();
  {
    scheduler s({.workers = 1});
    fiber* f = nullptr;
    while (spawn([](void*) {}, nullptr, &f).done() && made.size() < 10'000) {
      made.push_back(f);
    }
    EXPECT_EQ(made.size(), 2047U) << "a page each, and the main fiber's";
    EXPECT_TRUE(spawn([](void*) {}, nullptr, &f).retry());
    for (fiber* each : made) {
      join(*each);
    }
    EXPECT_TRUE(spawn([](void*) {}, nullptr, &f).done()) << "stacks are used again";
    join(*f);
  }
  memory->set("0", setting_origin::program);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("no memory for more fibers at a time"), std::string::npos) << said;
  EXPECT_EQ(said.find("no memory", said.find("no memory") + 1), std::string::npos) << "once";
}

}  // namespace
}  // namespace sinew::fiber
