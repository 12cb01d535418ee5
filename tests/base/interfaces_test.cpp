// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/interfaces.hpp"

#include <gtest/gtest.h>

#include "sinew/base/error.hpp"

namespace sinew::base {
namespace {

using names = std::vector<std::string>;

const std::vector<network_interface> usual{{"lo", true, false, {"127.0.0.1", "::1"}},
                                           {"docker0", false, true, {"172.17.0.1"}},
                                           {"eth0", false, false, {"10.0.0.1", "fd00::1"}},
                                           {"ib0", false, false, {"10.1.0.1"}}};

TEST(interfaces, loopback_and_inner_bridges_are_not_chosen) {
  EXPECT_EQ(choose_interfaces(usual, "auto"), (names{"eth0", "ib0"}));
  EXPECT_EQ(choose_interfaces(usual, ""), (names{"eth0", "ib0"}));
}

TEST(interfaces, where_there_is_nothing_else_all_are) {
  EXPECT_EQ(choose_interfaces({usual[0]}, "auto"), (names{"lo"}));
  EXPECT_EQ(choose_interfaces({{"lo", true, false}, {"br0", false, true}}, "auto"),
            (names{"lo", "br0"}));
}

TEST(interfaces, a_list_chooses_and_a_list_without_leaves_out) {
  EXPECT_EQ(choose_interfaces(usual, "ib0"), (names{"ib0"}));
  EXPECT_EQ(choose_interfaces(usual, "eth0,docker0"), (names{"docker0", "eth0"}));
  EXPECT_EQ(choose_interfaces(usual, "^eth0"), (names{"ib0"}));
  EXPECT_EQ(choose_interfaces(usual, "^wlan0"), (names{"eth0", "ib0"}));
}

TEST(interfaces, what_is_not_there_is_named_with_what_is) {
  for (const char* wanted : {"eth1", "eth0,eth1", "^eth0,ib0"}) {
    try {
      (void)choose_interfaces(usual, wanted);
      ADD_FAILURE() << wanted;
    } catch (const error& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find("SINEW_NET_INTERFACES"), std::string::npos) << text;
      EXPECT_NE(text.find("lo,docker0,eth0,ib0"), std::string::npos) << text;
    }
  }
}

TEST(interfaces, others_reach_the_addresses_of_chosen_ones) {
  EXPECT_EQ(reachable_addresses(usual, "auto"), (names{"10.0.0.1", "fd00::1", "10.1.0.1"}));
  EXPECT_EQ(reachable_addresses(usual, "^ib0"), (names{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(reachable_addresses(usual, "docker0,lo"), (names{"172.17.0.1"}));
  EXPECT_EQ(reachable_addresses(usual, "eth7,ib0"), (names{"10.1.0.1"}));  // eth7: of other hosts
  EXPECT_EQ(reachable_addresses(usual, "eth7"), names{});
  EXPECT_EQ(reachable_addresses(usual, "^eth0,ib0"), names{});
  EXPECT_EQ(reachable_addresses({usual[0]}, "auto"), names{});
}

TEST(interfaces, those_of_this_host_have_names_and_addresses_that_others_can_use) {
  for (const network_interface& each : interfaces_of_host()) {
    EXPECT_FALSE(each.name.empty());
    for (const std::string& address : each.addresses) {
      EXPECT_FALSE(address.starts_with("fe80")) << address;
    }
  }
}

TEST(ports, are_two_numbers_or_one) {
  EXPECT_TRUE(parse_ports("auto").is_any());
  const port_range range = parse_ports("5000-5100");
  EXPECT_EQ(range.first, 5000);
  EXPECT_EQ(range.last, 5100);
  EXPECT_EQ(range.size(), 101);
  EXPECT_EQ(parse_ports("5000").size(), 1);
  for (const char* text : {"0-5", "9-5", "5-", "-5", "1-65536", "a-b", "5000-5100x", "1-2-3"}) {
    EXPECT_THROW((void)parse_ports(text), error) << text;
  }
}

}  // namespace
}  // namespace sinew::base
