// SPDX-License-Identifier: BSD-3-Clause
// Lists of hosts, and which rank goes where.
#include <gtest/gtest.h>

#include "sinew/run/hosts.hpp"

namespace sinew::tool {
namespace {

std::string told(const std::vector<host_slots>& hosts) {
  std::string text;
  for (const host_slots& each : hosts) {
    text += (text.empty() ? "" : " ") + each.name + "*" + std::to_string(each.slots);
  }
  return text;
}

TEST(host_names, lists) {
  EXPECT_EQ(told(parse_hosts("--hosts", "h1:2,h2,me@h3:4")), "h1*2 h2*1 me@h3*4");
  EXPECT_EQ(told(parse_hosts("--hosts", "h1,h2,h1:3")), "h1*4 h2*1");
  EXPECT_EQ(told(parse_hosts("--hosts", "10.0.0.1:2,fe80::1,[fe80::2]:3")),
            "10.0.0.1*2 fe80::1*1 fe80::2*3");
  for (const char* list : {"h1:2,h2:1,me@h3:4", "[fe80::2]:3,10.0.0.1:1"}) {
    EXPECT_EQ(hosts_text(parse_hosts("--hosts", list)), list);
  }
  for (const char* text :
       {"", "h1,,h2", "h1:0", "h1:x", "-oProxyCommand=x", "h1;ls", "h 1", "h1:"}) {
    EXPECT_THROW((void)parse_hosts("--hosts", text), usage_failure) << text;
  }
}

TEST(host_names, files) {
  EXPECT_EQ(told(parse_host_file("f", "# all\nh1:2\n\n  h2  # slow\nh1\n")), "h1*3 h2*1");
  EXPECT_EQ(told(parse_host_file("f", "h1 slots=2 max_slots=8\nh2 max-slots=1\n")), "h1*2 h2*1");
  EXPECT_THROW((void)parse_host_file("f", "# none\n"), usage_failure);
  try {
    (void)parse_host_file("f", "h1\nh2 wings=2\n");
    FAIL();
  } catch (const usage_failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("f, line 2: \"wings=2\""), std::string::npos);
  }
}

TEST(host_names, slurm) {
  EXPECT_EQ(told(parse_slurm("h[1-2],gpu[08-10,12]x,login", "2(x2),1")),
            "h1*2 h2*2 gpu08x*1 gpu09x*1 gpu10x*1 gpu12x*1 login*1");
  EXPECT_EQ(told(parse_slurm("r[1-2]n[1-2]", "3(x4)")), "r1n1*3 r1n2*3 r2n1*3 r2n2*3");
  EXPECT_THROW((void)parse_slurm("h[1-x]", "1"), usage_failure);
}

TEST(host_names, ranks_go_to_hosts) {
  const std::vector<host_slots> hosts = {{"a", 2}, {"b", 1}, {"c", 3}};
  using nodes = std::vector<int>;
  EXPECT_EQ(map_ranks(hosts, 6, false).node_of, (nodes{0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(map_ranks(hosts, 6, true).node_of, (nodes{0, 1, 2, 0, 2, 2}));
  EXPECT_EQ(map_ranks(hosts, 9, false).node_of, (nodes{0, 0, 1, 2, 2, 2, 0, 0, 1}));
  EXPECT_EQ(map_ranks(hosts, 2, false).names, std::vector<std::string>{"a"});
  EXPECT_EQ(hosts_text(map_ranks(hosts, 2, false).named), "a:2,b:1,c:3");
  EXPECT_EQ(map_ranks(hosts, 1, true).host(0), "a");
}

}  // namespace
}  // namespace sinew::tool
