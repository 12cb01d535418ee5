#include "fabric/interfaces.hpp"

#include <gtest/gtest.h>

#include "sinew/base/error.hpp"

namespace sinew::fabric {
namespace {

using names = std::vector<std::string>;

const std::vector<interface> usual{
    {"lo", true, false}, {"docker0", false, true}, {"eth0", false, false}, {"ib0", false, false}};

TEST(interfaces, loopback_and_inner_bridges_are_not_chosen) {
  EXPECT_EQ(choose_interfaces(usual, "auto"), (names{"eth0", "ib0"}));
  EXPECT_EQ(choose_interfaces(usual, ""), (names{"eth0", "ib0"}));
}

TEST(interfaces, where_there_is_nothing_else_all_are) {
  EXPECT_EQ(choose_interfaces({{"lo", true, false}}, "auto"), (names{"lo"}));
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

TEST(interfaces, this_host_has_some_unless_it_has_no_network_at_all) {
  const auto there = interfaces_of_host();
  for (const interface& each : there) {
    EXPECT_FALSE(each.name.empty());
  }
  EXPECT_EQ(there.empty(), network_devices("auto").empty());
}

}  // namespace
}  // namespace sinew::fabric
