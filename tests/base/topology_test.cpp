#include "sinew/base/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

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
    EXPECT_LT(one.numa_node, topology::numa_nodes());
    seen.insert(one.cpus.begin(), one.cpus.end());
  }
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

TEST(topology, TreeShowsTheMachineAndItsProcessors) {
  const std::string text = topology::tree();
  EXPECT_EQ(text.find("Machine"), 0U) << text;
  EXPECT_NE(text.find("PU "), std::string::npos) << text;
  EXPECT_EQ(topology::hwloc_version().substr(0, 2), "2.");
}

}  // namespace
}  // namespace sinew
