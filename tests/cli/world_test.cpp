// How ranks that are spawned share the room, and what the launcher is told of them.
#include "sinew/run/world.hpp"

#include <gtest/gtest.h>

namespace sinew::tool {
namespace {

boot::spawn_command command(std::vector<int> counts) {
  boot::spawn_command c;
  c.arguments = {"prog"};
  c.counts = std::move(counts);
  return c;
}

TEST(share_room, gives_each_command_what_it_needs_first) {
  using counts = std::vector<int>;
  EXPECT_EQ(share_room({command({3})}, 3), (counts{3}));
  EXPECT_EQ(share_room({command({3})}, 2), (counts{}));
  EXPECT_EQ(share_room({command({8, 4, 1})}, 100), (counts{8}));
  EXPECT_EQ(share_room({command({8, 4, 1})}, 7), (counts{4}));
  EXPECT_EQ(share_room({command({8, 4, 1}), command({3, 2})}, 6), (counts{4, 2}));
  EXPECT_EQ(share_room({command({8, 4, 1}), command({3, 2})}, 4), (counts{1, 3}));
  EXPECT_EQ(share_room({command({8, 4, 1}), command({3, 2})}, 2), (counts{}));
  EXPECT_EQ(least_ranks({command({8, 4, 1}), command({3, 2})}), 3);
}

TEST(plan_world, has_the_programs_in_their_order) {
  world w;
  boot::spawn_request request;
  request.commands = {command({2}), command({1})};
  request.commands[1].environment = {"A=b=c"};
  request.commands[1].directory = "/tmp";
  plan_world(w, "job-1", request, {{"/one", 0, ""}, {"/two", 0, ""}}, {2, 1});
  ASSERT_EQ(w.plan.ranks.size(), 3U);
  EXPECT_EQ(w.plan.local, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(w.plan.ranks[1].application, 0);
  EXPECT_EQ(w.plan.ranks[2].application, 1);
  EXPECT_EQ(w.plan.ranks[2].program, "/two");
  EXPECT_EQ(w.plan.ranks[2].what->directory, "/tmp");
  ASSERT_EQ(w.plan.ranks[2].what->environment.size(), 1U);
  EXPECT_EQ(w.plan.ranks[2].what->environment[0].second, "b=c");
  EXPECT_EQ(w.plan.job, "job-1");
}

}  // namespace
}  // namespace sinew::tool
