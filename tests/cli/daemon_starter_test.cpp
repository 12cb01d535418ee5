// SPDX-License-Identifier: BSD-3-Clause
// Agents that do not start a daemon.
#include "sinew/run/daemon_starter.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "sinew/base/clock.hpp"

namespace sinew::tool {
namespace {

TEST(agents, that_have_not_brought_their_daemon_in_time_are_ended) {
  const std::string agent = ::testing::TempDir() + "agent." + std::to_string(::getpid());
  std::ofstream(agent) << "#!/bin/sh\nsleep 600\n";
  ASSERT_EQ(::chmod(agent.c_str(), 0700), 0);
  event_loop loop;
  std::vector<std::string> failures;
  std::vector<std::string> remarks;
  daemon_starter starter(loop, {agent, true}, {"h0", "h1"}, {1},
                         {[](int, daemon_line) { FAIL(); },
                          [&](int, int, const std::string& why) { failures.push_back(why); },
                          [&](const std::string& text) { remarks.push_back(text); }});
  sigset_t none;
  ::sigemptyset(&none);
  starter.start(none);
  starter.look_after(now_ns());
  EXPECT_TRUE(remarks.empty());
  starter.look_after(now_ns() + std::int64_t{31'000'000'000});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(failures[0].find("the host h1 does not answer"), std::string::npos);
  EXPECT_EQ(remarks.size(), 1U);
  EXPECT_FALSE(starter.agents_have_ended());
  starter.give_up();
  const std::int64_t until = now_ns() + std::int64_t{20'000'000'000};
  while (!starter.agents_have_ended() && now_ns() < until) {
    loop.run_once(1);
    reap_children([&](const siginfo_t& each) { starter.on_child(each); });
  }
  EXPECT_TRUE(starter.agents_have_ended());
  std::remove(agent.c_str());
}

}  // namespace
}  // namespace sinew::tool
