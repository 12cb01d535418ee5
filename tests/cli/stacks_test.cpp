// SPDX-License-Identifier: BSD-3-Clause
// Where ranks stand: from calls to what is told.
#include "sinew/ask/stacks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sinew/ask/idle_watch.hpp"
#include "sinew/ask/inquiry.hpp"
#include "sinew/ask/roll_call.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::tool {
namespace {

constexpr const char* ours = "/opt/sinew/lib/libmpi_abi.so.1";

stack_frame in_program(const char* function, const char* file, int line) {
  return {function, "/opt/solver", file, line};
}

/// A C program in MPI_Recv, at that line of solve().
standing waits_at(int line) {
  return {{"",
           {{{"sinew::core::runtime::wait()", ours, "waiting.cpp", 8},
             {"PMPI_Recv", ours, "", 0},
             in_program("solve", "/src/solver.c", line),
             in_program("main", "/src/main.c", 3)}}}};
}

TEST(stacks, the_call_and_who_has_made_it) {
  EXPECT_EQ(place_of(waits_at(210)), (place{"MPI_Recv", "solve", "solver.c:210"}));
  EXPECT_EQ(place_of(waits_at(210)).text(), "MPI_Recv, in solve (solver.c:210)");
  EXPECT_EQ(place_of(stack{}).text(), "in no call of MPI");
}

TEST(stacks, names_are_as_in_the_source) {
  const auto call_named = [](const char* function) {
    return place_of(stack{{function, ours, "", 0}, in_program("deep.0", "d.f90", 7)}).text();
  };
  for (const char* fortran : {"mpi_recv_", "mpi_recv__", "mpi_recv_f08_", "mpi_recv_f08ts_",
                              "pmpi_recv_", "MPI_Recv", "PMPI_Recv"}) {
    EXPECT_EQ(call_named(fortran), "MPI_Recv, in deep (d.f90:7)") << fortran;
  }
  EXPECT_EQ(call_named("_gfortran_caf_sync_all"), "sync all, in deep (d.f90:7)");
  EXPECT_EQ(call_named("MPIX_Comm_agree"), "MPIX_Comm_agree, in deep (d.f90:7)");
  EXPECT_EQ(place_of(stack{{"MPI_Send", ours, "", 0}, in_program("MAIN__", "m.f90", 9)}).text(),
            "MPI_Send, in the main program (m.f90:9)");
  EXPECT_EQ(
      place_of(stack{{"MPI_Send", ours, "", 0}, in_program("grid::put(int, double)", "g.cc", 1)})
          .function,
      "grid::put");
}

TEST(stacks, between_a_binding_and_the_program) {
  const stack fortran = {{"MPI_Send", ours, "", 0},
                         {"sinew::fortran::send()", "/opt/sinew/lib/libmpifort_abi.so.1", "", 0},
                         {"mpi_send_", "/opt/sinew/lib/libmpifort_abi.so.1", "", 0},
                         in_program("step", "s.f90", 12)};
  EXPECT_EQ(place_of(fortran).text(), "MPI_Send, in step (s.f90:12)");
}

/// A function of the program that MPI has called is not where the rank stands.
TEST(stacks, calls_back) {
  const stack reducing = {in_program("my_operator", "op.c", 4),
                          {"PMPI_Allreduce", ours, "", 0},
                          in_program("main", "m.c", 30)};
  EXPECT_EQ(place_of(reducing).text(), "MPI_Allreduce, in main (m.c:30)");
  EXPECT_FALSE(waits_in_call(reducing));
  EXPECT_FALSE(waits_in_call({}));
  EXPECT_TRUE(waits_in_call(waits_at(1).threads[0]));
}

/// The program's line is told, not that of the module in C which has called.
TEST(stacks, a_program_in_python) {
  stack calls = {{"PMPI_Bcast", ours, "", 0, false},
                 {"__pyx_f_bcast", "/venv/MPI.abi3.so", "", 0, false},
                 {"Swarm.share", "", "/src/swarm.py", 3801, true},
                 {"<module>", "", "/src/swarm.py", 4000, true}};
  EXPECT_EQ(place_of(calls).text(), "MPI_Bcast, in Swarm.share (swarm.py:3801)");
  calls.erase(calls.begin());
  EXPECT_EQ(place_of(calls).text(), "in no call of MPI, in Swarm.share (swarm.py:3801)");
}

TEST(stacks, computing) {
  const stack library = {{"dgemm_kernel", "/usr/lib/libblas.so.3", "", 0},
                         in_program("multiply", "b.c", 77),
                         in_program("main", "m.c", 2)};
  EXPECT_EQ(place_of(library).text(), "in no call of MPI, in multiply (b.c:77)");
  const stack unknown = {{"dgemm_kernel", "/usr/lib/libblas.so.3", "", 0}, {"", "/bin/x", "", 0}};
  EXPECT_EQ(place_of(unknown).text(), "in no call of MPI, in dgemm_kernel (libblas.so.3)");
}

TEST(stacks, another_thread_may_be_the_one_in_a_call) {
  rank_stacks rank = waits_at(5);
  rank.threads.insert(rank.threads.begin(), stack{in_program("join", "t.c", 1)});
  EXPECT_EQ(place_of(rank).text(), "MPI_Recv, in solve (solver.c:5)");
}

TEST(stacks, travel_between_hosts) {
  const rank_stacks sent = waits_at(210);
  const rank_stacks got = rank_stacks::unpack(sent.pack());
  EXPECT_EQ(got.threads.size(), 1u);
  EXPECT_EQ(place_of(got), place_of(sent));
  EXPECT_EQ(rank_stacks::unpack(rank_stacks{"no", {}}.pack()).why_not, "no");
  const std::string bytes = sent.pack();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(rank_stacks::unpack(bytes.substr(0, n)).why_not.empty()) << n;
  }
}

TEST(roll_call, ranks_in_one_place_are_one_line) {
  roll all;
  for (int rank = 0; rank < 256; ++rank) {
    all[rank] = waits_at(rank == 1 ? 38 : 210);
  }
  EXPECT_EQ(roll_call(all),
            "  ranks 0, 2-255: MPI_Recv, in solve (solver.c:210)\n"
            "  rank 1: MPI_Recv, in solve (solver.c:38)\n"
            "  1 rank stands elsewhere than the 255 others: look there first.\n");
  EXPECT_TRUE(all_are_in_calls(all));
  all[3] = {{"its host has not answered", {}}};
  EXPECT_FALSE(all_are_in_calls(all));
  EXPECT_NE(roll_call(all).find("rank 3: its host has not answered\n"), std::string::npos);
  EXPECT_EQ(roll_call({}), "");
}

TEST(roll_call, nobody_is_blamed_where_there_is_no_majority) {
  const roll all{{0, waits_at(1)}, {1, waits_at(2)}};
  EXPECT_EQ(roll_call(all).find("elsewhere"), std::string::npos);
  EXPECT_EQ(roll_call({{0, waits_at(1)}}), "  rank 0: MPI_Recv, in solve (solver.c:1)\n");
}

TEST(roll_call, a_crash) {
  const stack_frame handler{"", ours, "", 0};
  const stack_frame by_system{"", "/lib/libc.so.6", "", 0, false, true};
  stack calls = {{"poll", "/lib/libc.so.6", "", 0, false, true}, handler, by_system};
  EXPECT_EQ(crash_text({"", {calls}}), "");
  calls.insert(calls.end(), {{"deep", "/opt/solver", "/d.c", 6, false, true},
                             in_program("deep", "/d.c", 6),
                             in_program("begin", "/d.c", 9),
                             in_program("main", "/m.c", 2),
                             {"__libc_start_main", "/lib/libc.so.6", "", 0}});
  const std::string told = "  deep (d.c:6)  [2 times]\n  begin (d.c:9)\n  main (m.c:2)\n";
  EXPECT_EQ(crash_text({"", {calls}}), told);
  EXPECT_EQ(crash_text({"", {waits_at(1).threads[0], calls}}), told);
  EXPECT_EQ(crash_text(waits_at(1)), "");
  EXPECT_EQ(crash_text({"no", {}}), "");
  calls[1] = in_program("own_handler", "/d.c", 3);
  EXPECT_EQ(crash_text({"", {calls}}), "");
}

TEST(roll_call, as_a_tree) {
  const roll all{{0, waits_at(1)}, {1, waits_at(2)}, {2, waits_at(1)}};
  EXPECT_EQ(stack_tree(all),
            "main (main.c:3)\n"
            "  solve (solver.c:1)  [ranks 0, 2]\n"
            "  MPI_Recv\n"
            "  solve (solver.c:2)  [rank 1]\n"
            "  MPI_Recv\n");
}

TEST(idle_watch, tells_of_who_does_nothing_and_of_who_works_again) {
  std::map<pid_t, std::int64_t> worked{{10, 0}, {11, 0}};
  idle_watch watch(8 * second_ns, [&worked](pid_t process) { return worked[process]; });
  watch.add(0, 10);
  watch.add(1, 11);
  std::vector<std::pair<int, bool>> told;
  const std::int64_t begin = now_ns();
  const auto pass = [&](int seconds, std::int64_t work_of_11) {
    static std::int64_t now = begin;
    for (int i = 0; i < seconds; ++i) {
      now += second_ns + 1;
      worked[10] += 1'000'000;  // as one that waits
      worked[11] += work_of_11;
      watch.look(now, [&told](int rank, bool idle) { told.emplace_back(rank, idle); });
    }
  };
  using all = std::vector<std::pair<int, bool>>;
  pass(9, second_ns / 2);
  EXPECT_EQ(std::exchange(told, {}), (all{{0, true}}));
  pass(8, second_ns / 2);
  EXPECT_EQ(std::exchange(told, {}), (all{{0, true}}));
  pass(9, 0);
  EXPECT_EQ(std::exchange(told, {}), (all{{0, true}, {1, true}}));
  pass(1, second_ns / 2);
  EXPECT_EQ(std::exchange(told, {}), (all{{1, false}}));
  watch.remove(0);
  watch.remove(1);
  EXPECT_EQ(watch.wait_ms(begin), -1);
  idle_watch never(0);
  never.add(0, 10);
  EXPECT_EQ(never.wait_ms(begin), -1);
}

TEST(idle_watch, reads_the_processor_time_of_a_process) {
  const std::int64_t before = processor_time_of(::getpid());
  for (const std::int64_t until = now_ns() + 20'000'000; now_ns() < until;) {
  }
  EXPECT_GT(processor_time_of(::getpid()), before);
  EXPECT_EQ(processor_time_of(1'000'000'000), 0);
}

TEST(inquiry, ends_when_all_have_answered_or_ended) {
  inquiry asking;
  int told = 0;
  const auto answer = [&told](const roll& found) { told += static_cast<int>(found.size()); };
  EXPECT_TRUE(asking.begin({0, 1, 2}, answer));
  EXPECT_FALSE(asking.begin({0, 1, 2}, answer));  // the same question
  asking.take(0, waits_at(1));
  asking.take(7, waits_at(1));  // nobody has asked it
  asking.leave(1);
  EXPECT_EQ(told, 0);
  EXPECT_NE(asking.deadline_ns(), INT64_MAX);
  asking.take(2, waits_at(1));
  EXPECT_EQ(told, 4);
  EXPECT_EQ(asking.deadline_ns(), INT64_MAX);
  EXPECT_TRUE(asking.begin({}, answer));
  asking.check(0);
  EXPECT_EQ(told, 4);
}

TEST(inquiry, who_does_not_answer_is_told_as_such) {
  inquiry asking;
  std::string text;
  EXPECT_TRUE(asking.begin({4}, [&text](const roll& found) { text = roll_call(found); }));
  asking.check(asking.deadline_ns() - 1);
  EXPECT_EQ(text, "");
  asking.check(asking.deadline_ns());
  EXPECT_EQ(text, "  rank 4: its host has not answered\n");
}

}  // namespace
}  // namespace sinew::tool
