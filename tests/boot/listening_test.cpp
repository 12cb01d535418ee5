// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/listening.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "sinew/base/error.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::boot {
namespace {

listeners listen_by(const char* ports) {
  settings::set_from_command_line("SINEW_NET_PORTS", ports);
  listeners made = listen_for_hosts(address_family::any, 16, 8);
  settings::set_from_command_line("SINEW_NET_PORTS", "auto");
  return made;
}

TEST(listening, one_port_at_all_addresses_that_others_reach) {
  const listeners made = listen_by("auto");
  EXPECT_EQ(made.sockets.size(), made.addresses.size());
  EXPECT_EQ(made.sockets.empty(), made.port == 0);
  for (const std::string& each : made.addresses) {
    EXPECT_FALSE(each == "127.0.0.1" || each == "::1" || each == "0.0.0.0" || each == "::") << each;
  }
}

TEST(listening, ports_of_a_range_are_used_until_none_is_left) {
  const listeners first = listen_by("47500-47503");
  if (first.sockets.empty()) {
    GTEST_SKIP() << "this machine has no network";
  }
  EXPECT_GE(first.port, 47500);
  EXPECT_LE(first.port, 47503);
  const std::string same = std::to_string(first.port);
  try {
    (void)listen_by(same.c_str());
    ADD_FAILURE() << "two listen at " << same;
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("no port of SINEW_NET_PORTS is free"), std::string::npos);
  }
  const listeners second = listen_by("47500-47503");
  EXPECT_NE(second.port, first.port);
}

TEST(listening, a_limit_of_the_system_is_no_address_that_cannot_be_had) {
  if (listen_by("auto").sockets.empty()) {
    GTEST_SKIP() << "this machine has no network";
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  try {
    (void)listen_by("auto");
    ADD_FAILURE() << "it listens";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("ulimit -n"), std::string::npos) << e.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(listening, an_interface_of_other_hosts_chooses_nothing_here) {
  settings::set_from_command_line("SINEW_NET_INTERFACES", "of_another_host");
  EXPECT_TRUE(listen_by("auto").sockets.empty());
  settings::set_from_command_line("SINEW_NET_INTERFACES", "auto");
}

}  // namespace
}  // namespace sinew::boot
