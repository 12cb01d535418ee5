// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "base/cpu_sysfs.hpp"
#include "sinew/base/error.hpp"

namespace sinew {
namespace {

TEST(topology, CountsWhatTheProcessMayUse) {
  const std::vector<int> cpus = topology::usable_cpu_list();
  EXPECT_EQ(static_cast<int>(cpus.size()), topology::usable_cpus());
  EXPECT_GE(cpus.size(), 1U);
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
}

TEST(topology, CoresPartitionTheUsableProcessors) {
  std::multiset<int> seen;
  for (const topology::core& one : topology::cores()) {
    EXPECT_FALSE(one.cpus.empty());
    EXPECT_GE(one.numa_node, 0);
    seen.insert(one.cpus.begin(), one.cpus.end());
  }
  EXPECT_GE(topology::numa_nodes(), 1);
  const std::vector<int> cpus = topology::usable_cpu_list();
  EXPECT_EQ(std::vector<int>(seen.begin(), seen.end()), cpus);
}

TEST(topology, BindsAThreadAndNobodyElse) {
  const int before = topology::usable_cpus();
  std::thread([] {
    const topology::core& first = topology::cores().front();
    ASSERT_TRUE(topology::bind_thread_to_core(0));
    EXPECT_EQ(topology::usable_cpu_list(), first.cpus);
    EXPECT_NE(std::find(first.cpus.begin(), first.cpus.end(), topology::current_cpu()),
              first.cpus.end());
    // Counts round the cores, however many there are.
    EXPECT_TRUE(topology::bind_thread_to_core(static_cast<int>(topology::cores().size())));
    EXPECT_EQ(topology::usable_cpu_list(), first.cpus);
  }).join();
  EXPECT_EQ(topology::usable_cpus(), before);
}

TEST(topology, RefusesNonsense) {
  EXPECT_FALSE(topology::bind_thread({}));
  const int far[] = {8192};
  EXPECT_FALSE(topology::bind_thread(far));
  const int negative[] = {-1};
  EXPECT_FALSE(topology::bind_thread(negative));
  EXPECT_THROW(static_cast<void>(topology::bind_thread_to_core(-1)), error);
}

TEST(topology, ReadsCpuLists) {
  EXPECT_EQ(topology::parse_cpu_list("0-2,5"), (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(topology::parse_cpu_list("7"), (std::vector<int>{7}));
  EXPECT_TRUE(topology::parse_cpu_list("").empty());
  EXPECT_TRUE(topology::parse_cpu_list("x").empty());
  EXPECT_TRUE(topology::parse_cpu_list("5-2").empty());
  EXPECT_TRUE(topology::parse_cpu_list("0-99999999").empty());
  EXPECT_EQ(topology::parse_cpu_list("1,"), (std::vector<int>{1}));
}

// A machine of two packages, two nodes, two cores each of two threads numbered as on many servers:
// the second threads come after all first ones.
TEST(topology, GroupsThreadsIntoCores) {
  namespace fs = std::filesystem;
  std::string place = ::testing::TempDir() + "sinew-topology-XXXXXX";
  ASSERT_NE(::mkdtemp(place.data()), nullptr);
  const fs::path system(place);
  for (int cpu = 0; cpu < 8; ++cpu) {
    const fs::path folder = system / "devices/system/cpu" / ("cpu" + std::to_string(cpu));
    fs::create_directories(folder / "topology");
    const int first = cpu % 4;
    std::ofstream(folder / "topology/thread_siblings_list") << first << "," << first + 4 << "\n";
    std::ofstream(folder / "topology/physical_package_id") << 1 - first / 2 << "\n";
    fs::create_directories(folder / ("node" + std::to_string(1 - first / 2)));
  }
  const auto all = topology::read_cores(system.string(), {0, 1, 2, 3, 4, 5, 6, 7});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].cpus, (std::vector<int>{2, 6}));
  EXPECT_EQ(all[0].package, 0);
  EXPECT_EQ(all[0].numa_node, 0);
  EXPECT_EQ(all[2].cpus, (std::vector<int>{0, 4}));
  EXPECT_EQ(all[2].package, 1);
  EXPECT_EQ(all[2].numa_node, 1);
  const auto some = topology::read_cores(system.string(), {4, 5});
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[0].cpus, (std::vector<int>{4}));
  const auto unknown = topology::read_cores((system / "none").string(), {0, 1});
  EXPECT_EQ(unknown.size(), 2U);
  fs::remove_all(system);
}

TEST(topology, TreeShowsTheMachineAndItsProcessors) {
  const std::string text = topology::tree();
  EXPECT_EQ(text.find("Machine"), 0U) << text;
  EXPECT_NE(text.find("PU "), std::string::npos) << text;
  EXPECT_EQ(topology::hwloc_version().substr(0, 2), "2.");
}

}  // namespace
}  // namespace sinew
