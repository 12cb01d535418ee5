// SPDX-License-Identifier: BSD-3-Clause
// Machines unlike this one, as hwloc describes them.
#include <gtest/gtest.h>

#include <string>

#include "sinew/base/error.hpp"
#include "sinew/base/topology.hpp"

namespace sinew {
namespace {

using topology::memory_map;
using topology::origin;

TEST(memory_map, KnowsThisMachine) {
  const memory_map& map = memory_map::of_machine();
  ASSERT_FALSE(map.nodes().empty());
  for (const topology::memory_node& from : map.nodes()) {
    for (const topology::memory_node& to : map.nodes()) {
      const topology::nearness& near = map.between(from.number, to.number);
      EXPECT_GT(near.bandwidth, 0.0);
      EXPECT_LE(near.bandwidth, 1.0);
      EXPECT_GE(near.latency, 1.0);
    }
  }
  EXPECT_NE(map.text().find("node " + std::to_string(map.nodes()[0].number)), std::string::npos);
}

TEST(memory_map, WithoutFiguresLocalityDecides) {
  const auto map = memory_map::described("pack:2 [numa] group:2 [numa] l3:1 core:2 pu:2");
  ASSERT_EQ(map.nodes().size(), 6U);
  const auto& nodes = map.nodes();
  for (const topology::memory_node& one : nodes) {
    EXPECT_EQ(map.between(one.number, one.number).latency, 1.0);
    for (const topology::memory_node& other : nodes) {
      const topology::nearness& near = map.between(one.number, other.number);
      EXPECT_EQ(near.latency_from, origin::estimate);
      EXPECT_EQ(near.latency, map.between(other.number, one.number).latency);
      if (one.number != other.number) {
        const bool together = one.package == other.package;
        const topology::nearness& far = map.between(nodes.front().number, nodes.back().number);
        EXPECT_GT(near.latency, 1.0);
        EXPECT_EQ(near.latency < far.latency, together);
        EXPECT_EQ(near.bandwidth > far.bandwidth, together);
      }
    }
  }
}

TEST(memory_map, CachesAreShared) {
  const auto map = memory_map::described("pack:2 [numa] l3:2 l2:2 core:1 pu:2");
  ASSERT_EQ(map.nodes().size(), 2U);
  EXPECT_EQ(map.nodes()[0].cpus.size(), 8U);
  EXPECT_EQ(map.caches().size(), 4U + 8U);
  EXPECT_EQ(map.shared_cache(0, 1), 2);
  EXPECT_EQ(map.shared_cache(0, 2), 3);
  EXPECT_EQ(map.shared_cache(0, 4), 0);
  EXPECT_EQ(map.shared_cache(3, 3), 2);
  EXPECT_EQ(map.shared_cache(0, 99), 0);
}

/// Two packages of one node and one core each, in hwloc's XML, with what it may know besides.
std::string two_nodes(const std::string& more) {
  const auto package = [](const char* number, const char* set) {
    const std::string sets = std::string(" cpuset=\"") + set + "\" complete_cpuset=\"" + set +
                             "\" nodeset=\"" + set + "\" complete_nodeset=\"" + set + "\"";
    const std::string index = std::string("\" os_index=\"") + number + "\"" + sets;
    return "<object type=\"Package" + index + " gp_index=\"1" + number +
           "\"><object type=\"NUMANode" + index + " local_memory=\"1073741824\" gp_index=\"2" +
           number + "\"/><object type=\"Core" + index + " gp_index=\"3" + number +
           "\"><object type=\"PU" + index + " gp_index=\"4" + number + "\"/></object></object>";
  };
  // A line each: hwloc without libxml2 wants it so.
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
         "<topology version=\"2.0\">\n"
         "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
         "allowed_cpuset=\"0x3\" nodeset=\"0x3\" complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\" "
         "gp_index=\"1\">" +
         package("0", "0x1") + package("1", "0x2") + "</object>" + more + "</topology>";
}

constexpr const char* matrix =
    "<distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" name=\"NUMALatency\" indexing=\"os\">"
    "<indexes length=\"4\">0 1 </indexes><u64values length=\"12\">10 21 31 10 </u64values>"
    "</distances2>";

std::string attribute(const char* target, const char* from, const char* value) {
  return std::string("<memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"") +
         target + "\" value=\"" + value + "\" initiator_cpuset=\"" + from + "\"/>";
}

TEST(memory_map, DistancesOfTheSystem) {
  const auto map = memory_map::described(two_nodes(matrix));
  ASSERT_EQ(map.nodes().size(), 2U);
  EXPECT_EQ(map.nodes()[1].bytes, 1073741824U);
  EXPECT_EQ(map.nodes()[1].package, 1);
  EXPECT_EQ(map.between(0, 0).latency, 1.0);
  EXPECT_DOUBLE_EQ(map.between(0, 1).latency, 2.1);
  EXPECT_DOUBLE_EQ(map.between(1, 0).latency, 3.1);
  EXPECT_EQ(map.between(0, 1).latency_from, origin::distances);
  EXPECT_EQ(map.between(0, 1).bandwidth_from, origin::estimate);
  EXPECT_NE(map.text().find("~0.55 2.10"), std::string::npos) << map.text();
}

TEST(memory_map, AttributesOfTheFirmwareCountMost) {
  const auto map = memory_map::described(
      two_nodes(std::string(matrix) + "<memattr name=\"Bandwidth\" flags=\"5\">" +
                attribute("20", "0x1", "100000") + attribute("20", "0x2", "25000") +
                attribute("21", "0x1", "20000") + attribute("21", "0x2", "80000") +
                "</memattr><memattr name=\"Latency\" flags=\"6\">" + attribute("20", "0x1", "100") +
                attribute("21", "0x1", "180") + "</memattr>"));
  EXPECT_DOUBLE_EQ(map.between(0, 1).bandwidth, 0.2);
  EXPECT_DOUBLE_EQ(map.between(1, 0).bandwidth, 0.25);
  EXPECT_DOUBLE_EQ(map.between(1, 1).bandwidth, 0.8);
  EXPECT_EQ(map.between(1, 1).bandwidth_from, origin::attributes);
  EXPECT_DOUBLE_EQ(map.between(0, 1).latency, 1.8);
  EXPECT_EQ(map.between(0, 1).latency_from, origin::attributes);
  EXPECT_DOUBLE_EQ(map.between(1, 0).latency, 3.1) << "nobody knows better than the distances";
}

TEST(memory_map, LocalFiguresAloneSayNothingOfTheOthers) {
  const auto map = memory_map::described(two_nodes("<memattr name=\"Bandwidth\" flags=\"5\">" +
                                                   attribute("20", "0x1", "100000") +
                                                   attribute("21", "0x2", "50000") + "</memattr>"));
  EXPECT_EQ(map.between(0, 0).bandwidth_from, origin::estimate);
  EXPECT_LT(map.between(0, 1).bandwidth, 1.0);
}

TEST(memory_map, NonsenseIsRefused) {
  EXPECT_THROW(static_cast<void>(memory_map::described("pack:two")), error);
  EXPECT_THROW(static_cast<void>(memory_map::described("<no topology/>")), error);
  EXPECT_THROW(static_cast<void>(memory_map::described("")), error);
}

}  // namespace
}  // namespace sinew
