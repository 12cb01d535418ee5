// SPDX-License-Identifier: BSD-3-Clause
// When ranks wait for ever, by what they tell; and how it is said.
#include "sinew/ask/wait_board.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sinew/ask/roll_call.hpp"
#include "sinew/ask/wait_words.hpp"

namespace sinew::tool {
namespace {

using kind = boot::awaited::kind;

/// A board, and the questions that ranks have not answered yet.
struct asked_ranks {
  std::map<int, int> questions;
  std::vector<int> running;
  wait_board board{[this](int rank, int turn) {
    EXPECT_FALSE(questions.contains(rank)) << "it has not answered yet";
    questions[rank] = turn;
  }};

  explicit asked_ranks(std::vector<int> ranks) : running(std::move(ranks)) {}
  bool tell(int rank, const std::string& state, std::uint64_t sent = 0,
            std::uint64_t received = 0) {
    const auto question = questions.find(rank);
    const int turn = question != questions.end() ? question->second : 0;
    questions.erase(rank);
    return board.take(rank, {turn, state, sent, received, 0, {}}, running);
  }
};

TEST(wait_board, the_same_states_in_two_rounds_are_certain) {
  asked_ranks all({0, 1});
  EXPECT_FALSE(all.tell(0, "a"));
  EXPECT_TRUE(all.questions.empty());
  EXPECT_FALSE(all.tell(1, "b"));
  EXPECT_EQ(all.questions.size(), 2u);
  EXPECT_FALSE(all.tell(1, "b"));
  EXPECT_TRUE(all.tell(0, "a"));
  EXPECT_TRUE(all.questions.empty());
  EXPECT_EQ(all.board.ask_again(), (std::set<int>{0, 1}));
  EXPECT_FALSE(all.tell(0, "a"));  // it is told once
  EXPECT_FALSE(all.tell(1, "b"));
}

TEST(wait_board, a_rank_that_has_gone_on_meanwhile) {
  asked_ranks all({0, 1});
  (void)all.tell(0, "a");
  (void)all.tell(1, "b");
  EXPECT_FALSE(all.tell(0, "a"));
  EXPECT_FALSE(all.tell(1, "c"));
  EXPECT_FALSE(all.tell(0, "a"));
  EXPECT_TRUE(all.tell(1, "c"));
}

TEST(wait_board, a_rank_that_cannot_say_that_it_does_nothing) {
  asked_ranks all({0, 1});
  for (int round = 0; round < 4; ++round) {
    EXPECT_FALSE(all.tell(0, "a"));
    EXPECT_FALSE(all.tell(1, ""));
  }
}

TEST(wait_board, messages_over_networks) {
  asked_ranks all({0, 1});
  for (int round = 0; round < 4; ++round) {
    EXPECT_FALSE(all.tell(0, "a", 3, 0));
    EXPECT_FALSE(all.tell(1, "b", 2, 4));
  }
  EXPECT_FALSE(all.tell(0, "a", 3, 0));
  EXPECT_TRUE(all.tell(1, "b", 1, 4));
}

// What others have told before a rank has ended says nothing of the time after.
TEST(wait_board, a_rank_that_ends) {
  asked_ranks all({0, 1});
  for (int round = 0; round < 3; ++round) {
    (void)all.tell(0, "");
    (void)all.tell(1, "b");
  }
  all.running = {1};
  all.questions.erase(0);
  all.board.leave(0);
  EXPECT_FALSE(all.tell(1, "b"));
  if (all.questions.contains(1)) {
    EXPECT_FALSE(all.tell(1, "b"));
  }
  EXPECT_TRUE(all.tell(1, "b"));
}

TEST(wait_board, after_that_messages_cannot_be_counted) {
  asked_ranks all({0, 1, 2});
  (void)all.tell(2, "c", 5, 1);
  all.running = {0, 1};
  all.board.leave(2);
  all.questions.erase(2);
  for (int round = 0; round < 4; ++round) {
    EXPECT_FALSE(all.tell(0, "a", 3, 2));
    EXPECT_FALSE(all.tell(1, "b", 2, 3));
  }
}

TEST(wait_board, while_others_may_come_nothing_is_judged) {
  asked_ranks all({});
  for (int round = 0; round < 4; ++round) {
    EXPECT_FALSE(all.tell(0, "a"));
  }
}

standing waits_in(const char* call, int line, boot::awaited what, std::int64_t waited_ms = 0) {
  standing made;
  made.threads = {{{call, "/opt/sinew/lib/libmpi_abi.so.1", "", 0},
                   {"solve", "/opt/solver", "/src/solver.c", line}}};
  made.wait = boot::wait_report{0, "", 0, 0, waited_ms, std::move(what)};
  return made;
}

boot::awaited receive(int from, int tag) {
  return {kind::receive, {from}, tag, "MPI_COMM_WORLD", 8};
}

TEST(wait_words, where_ranks_stand_has_what_they_wait_for) {
  roll all{{0, waits_in("MPI_Recv", 3, receive(1, 7), 12'345)},
           {1, waits_in("MPI_Ssend", 4, {kind::send, {0}, 9, "grid", 1})}};
  EXPECT_EQ(roll_call(all),
            "  rank 0: MPI_Recv from rank 1, tag 7, of MPI_COMM_WORLD, 8 bytes, for 12 s, "
            "in solve (solver.c:3)\n"
            "  rank 1: MPI_Ssend to rank 0, tag 9, of grid, 1 byte, in solve (solver.c:4)\n");
  all = {{0, waits_in("MPI_Bcast", 3,
                      {kind::collective, {1}, -1, "MPI_COMM_WORLD", -1, "MPI_Bcast", 2, 5})},
         {1, waits_in("MPI_Probe", 4, {kind::probe, {}, -1, "MPI_COMM_WORLD"})}};
  EXPECT_EQ(roll_call(all),
            "  rank 0: MPI_Bcast of MPI_COMM_WORLD, root 2, in solve (solver.c:3)\n"
            "  rank 1: MPI_Probe from any rank, any tag, of MPI_COMM_WORLD, in solve "
            "(solver.c:4)\n");
}

TEST(wait_words, many_that_wait_for_different_ranks_are_one_line) {
  roll all;
  for (int rank = 0; rank < 20; ++rank) {
    all[rank] = waits_in("MPI_Recv", 3, receive((rank + 1) % 20, 7));
  }
  EXPECT_EQ(roll_call(all),
            "  ranks 0-19: MPI_Recv, tag 7, of MPI_COMM_WORLD, 8 bytes, in solve (solver.c:3)\n");
  for (int rank = 0; rank < 20; ++rank) {
    all[rank] = waits_in("MPI_Recv", 3, receive((rank + 1) % 20, rank));
  }
  EXPECT_EQ(roll_call(all), "  ranks 0-19: MPI_Recv, in solve (solver.c:3)\n");
}

TEST(wait_words, a_circle_comes_first) {
  roll all{{0, waits_in("MPI_Barrier", 9,
                        {kind::collective, {3}, -1, "MPI_COMM_WORLD", -1, "MPI_Barrier"})},
           {1, waits_in("MPI_Recv", 3, receive(2, 7))},
           {2, waits_in("MPI_Recv", 4, receive(1, 8))},
           {3, waits_in("MPI_Recv", 3, receive(2, 7))}};
  EXPECT_EQ(deadlock_text(all),
            "deadlock: rank 1 waits for rank 2 (MPI_Recv, tag 7, solver.c:3); rank 2 waits for "
            "rank 1 (MPI_Recv, tag 8, solver.c:4); rank 0 is in MPI_Barrier of MPI_COMM_WORLD "
            "(solver.c:9); rank 3 waits for rank 2 (MPI_Recv, tag 7, solver.c:3). No message is "
            "under way, so this cannot end");
}

TEST(wait_words, special_cases_of_a_deadlock) {
  boot::awaited other = receive(5, 7);
  other.other_tag = 9;
  EXPECT_EQ(deadlock_text({{0, waits_in("MPI_Recv", 3, other)}}),
            "deadlock: rank 0 waits for rank 5, which has ended (MPI_Recv, tag 7, solver.c:3; a "
            "message from there with tag 9 has come, which it does not take). No message is under "
            "way, so this cannot end");
  EXPECT_EQ(deadlock_text({{0, waits_in("MPI_Win_start", 3, receive(0, 7))},
                           {1, waits_in("MPI_Waitany", 3, {})},
                           {2, waits_in("MPI_Waitany", 3, {})}}),
            "deadlock: rank 0 waits for itself (MPI_Win_start, solver.c:3); ranks 1-2 wait in "
            "MPI_Waitany (solver.c:3). No message is under way, so this cannot end");
  standing unknown = waits_in("MPI_Recv", 3, receive(0, 7));
  unknown.threads.clear();
  unknown.why_not = "stacks cannot be read";
  EXPECT_EQ(deadlock_text({{0, unknown}}),
            "deadlock: rank 0 waits for itself (a receive, tag 7). No message is under way, so "
            "this cannot end");
  roll many;
  for (int rank = 0; rank < 30; ++rank) {
    many[rank] = waits_in("MPI_Waitany", rank, {});
  }
  EXPECT_NE(deadlock_text(many).find("; and 22 more ranks wait. "), std::string::npos);
}

TEST(wait_words, for_programs) {
  const roll all{{0, waits_in("MPI_Recv", 3, receive(1, 7), 1500)}};
  EXPECT_NE(roll_json(all).find("\"waits\": {\"for\": \"receive\", \"ranks\": [1], \"tag\": 7, "
                                "\"communicator\": \"MPI_COMM_WORLD\", \"bytes\": 8, "
                                "\"milliseconds\": 1500}}"),
            std::string::npos)
      << roll_json(all);
}

}  // namespace
}  // namespace sinew::tool
