// SPDX-License-Identifier: BSD-3-Clause
// What a rank asks its launcher for, and the answer, as text; and what is no such text.
#include "sinew/boot/spawn.hpp"

#include <gtest/gtest.h>

#include "sinew/boot/session.hpp"

namespace sinew::boot {
namespace {

spawn_request some_request() {
  spawn_request r;
  r.commands.push_back({{"prog", "", "two words\n"}, {8, 4, 1}, "/tmp", {"/a", "/b"}, {"X=1="}});
  r.commands.push_back({{"other"}, {2}, "", {}, {}});
  r.contact = "3.77";
  return r;
}

TEST(spawn_text, comes_back) {
  const auto back = parse_spawn_request(to_text(some_request()));
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ(back->commands.size(), 2U);
  EXPECT_EQ(back->commands[0].arguments, some_request().commands[0].arguments);
  EXPECT_EQ(back->commands[0].counts, (std::vector<int>{8, 4, 1}));
  EXPECT_EQ(back->commands[0].path, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(back->commands[0].environment, (std::vector<std::string>{"X=1="}));
  EXPECT_EQ(back->commands[1].directory, "");
  EXPECT_EQ(back->contact, "3.77");

  const auto answer = parse_spawn_answer(to_text(spawn_answer{{{4, 1}, {7, 3}}, {2}, -1, ""}));
  ASSERT_TRUE(answer.has_value());
  ASSERT_EQ(answer->ranks.size(), 2U);
  EXPECT_EQ(answer->ranks[1].rank, job_rank{7});
  EXPECT_EQ(answer->ranks[1].tenant, 3U);
  EXPECT_EQ(answer->culprit, -1);
  EXPECT_TRUE(parse_spawn_answer(to_text(spawn_answer{{}, {}, 1, "why"}))->ranks.empty());
}

TEST(spawn_text, connections_come_back) {
  for (const connections& each :
       {connections{}, connections{{4, 7}, {}}, connections{{}, {9}}, connections{{1}, {2, 3}}}) {
    EXPECT_EQ(parse_connections(to_text(each)), each) << to_text(each);
  }
  for (const char* text : {"", "4", "4,4;", ";7,6", "-1;", "a;", ";1;2", "1,,2;"}) {
    EXPECT_FALSE(parse_connections(text).has_value()) << text;
  }
  connections many;
  for (int r = 0; r < 100'000; ++r) {
    many.kept.emplace_back(r);
  }
  EXPECT_EQ(parse_connections(to_text(many)), many);
  EXPECT_LT(to_text(many).size(), 20U);  // a rank says it in a line of the launcher's
}

TEST(spawn_text, every_part_of_it_is_refused) {
  const std::string whole = to_text(some_request());
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(parse_spawn_request(whole.substr(0, n)).has_value()) << n;
    EXPECT_FALSE(parse_spawn_request(whole + whole.substr(0, n + 1)).has_value()) << n;
  }
}

TEST(spawn_text, what_makes_no_sense_is_refused) {
  const auto refused = [](auto change) {
    spawn_request r = some_request();
    change(r);
    return !parse_spawn_request(to_text(r)).has_value();
  };
  EXPECT_TRUE(refused([](spawn_request& r) { r.commands.clear(); }));
  EXPECT_TRUE(refused([](spawn_request& r) { r.commands[0].arguments.clear(); }));
  EXPECT_TRUE(refused([](spawn_request& r) { r.commands[0].arguments[0] = ""; }));
  EXPECT_TRUE(refused([](spawn_request& r) { r.commands[0].counts = {}; }));
  EXPECT_TRUE(refused([](spawn_request& r) { r.commands[0].counts = {1, 2}; }));
  EXPECT_TRUE(refused([](spawn_request& r) { r.commands[0].counts = {0}; }));
  EXPECT_TRUE(refused([](spawn_request& r) { r.commands[0].environment = {"=1"}; }));
  for (const char* text : {"", "4", "4.", ".1", "4.0", "-1.1", "5.1,4.1", "4.1,4.2", "4.1x"}) {
    EXPECT_FALSE(parse_tenancies(text).has_value()) << text;
  }
}

TEST(place, of_a_rank_that_was_spawned) {
  place p;
  p.rank = 6;
  p.size = 2;
  EXPECT_FALSE(p.spawned());
  EXPECT_EQ(p.reach(), 2);
  EXPECT_EQ(p.members(), (std::vector<job_rank>{0, 1}));
  p.spawning = {10, 4, "0.1", {5, 6}, {1, 2}};
  EXPECT_TRUE(p.spawned());
  EXPECT_EQ(p.reach(), 10);
  EXPECT_EQ(p.members(), (std::vector<job_rank>{5, 6}));
  EXPECT_EQ(p.known_size(), 7);
  EXPECT_TRUE(p.is_near(0) && p.is_near(9) && !p.is_near(10));
  EXPECT_EQ(p.node_leader(), job_rank{0});
}

}  // namespace
}  // namespace sinew::boot
