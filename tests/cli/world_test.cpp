// SPDX-License-Identifier: BSD-3-Clause
// How ranks that are spawned share the room, and what the launcher is told of them.
#include "sinew/run/world.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

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

TEST(find_spawned, looks_in_the_directory_before_it_looks_here) {
  const auto here =
      std::filesystem::temp_directory_path() / ("sinew-spawned-" + std::to_string(::getpid()));
  const auto program = [](const std::filesystem::path& path) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  };
  const std::string both = program(here / "in" / "both");
  program(here / "both");
  const std::string only_here = program(here / "only_here");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(here);
  boot::spawn_command c = command({1});
  c.directory = (here / "in").string();
  c.arguments = {"both"};
  EXPECT_EQ(find_spawned(c).exit_code, 127);  // not by PATH
  c.arguments = {"./both"};
  EXPECT_TRUE(std::filesystem::equivalent(find_spawned(c).path, both));
  c.arguments = {"./only_here"};
  EXPECT_TRUE(std::filesystem::equivalent(find_spawned(c).path, only_here));
  std::filesystem::current_path(before);
  std::filesystem::remove_all(here);
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

/// A row of worlds, each linked to the next by both.
std::vector<std::unique_ptr<world>> row(int count) {
  std::vector<std::unique_ptr<world>> worlds;
  for (int i = 0; i < count; ++i) {
    worlds.push_back(std::make_unique<world>());
    if (i > 0) {
      worlds[static_cast<std::size_t>(i) - 1]->links[0].kept.push_back(worlds.back().get());
      worlds.back()->links[0].kept = {worlds[static_cast<std::size_t>(i) - 1].get()};
    }
  }
  return worlds;
}

TEST(connected_worlds, end_together_also_by_others) {
  const auto worlds = row(4);
  EXPECT_EQ(connected_to(worlds, *worlds[3], 0, false).all.size(), 4U);
  // One side is enough: the other may not have told yet.
  worlds[1]->links[0].kept.pop_back();
  EXPECT_EQ(connected_to(worlds, *worlds[3], 0, false).all.size(), 4U);
  worlds[2]->forget(*worlds[1]);
  const connected_worlds found = connected_to(worlds, *worlds[3], 0, false);
  EXPECT_EQ(found.all, (std::vector<world*>{worlds[3].get(), worlds[2].get()}));
  EXPECT_FALSE(found.undecided);
}

TEST(connected_worlds, that_are_being_left_are_undecided) {
  const auto worlds = row(2);
  worlds[0]->links = {{5, {{}, {worlds[1].get()}}}};
  worlds[1]->links.clear();  // it has come out
  EXPECT_TRUE(connected_to(worlds, *worlds[1], 0, false).undecided);
  EXPECT_EQ(connected_to(worlds, *worlds[1], 0, false).all.size(), 1U);
  EXPECT_EQ(connected_to(worlds, *worlds[1], 0, true).all.size(), 2U);
  // Who fails there may be waited for.
  EXPECT_TRUE(connected_to(worlds, *worlds[0], 4, false).undecided);
  EXPECT_FALSE(connected_to(worlds, *worlds[0], 5, false).undecided);
  EXPECT_EQ(connected_to(worlds, *worlds[0], 5, false).all.size(), 2U);
  worlds[0]->links.clear();
  EXPECT_FALSE(connected_to(worlds, *worlds[1], 0, false).undecided);
}

}  // namespace
}  // namespace sinew::tool
