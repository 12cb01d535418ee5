// SPDX-License-Identifier: BSD-3-Clause
// Where ranks stand: from calls to what is told.
#include "sinew/ask/stacks.hpp"

#include <gtest/gtest.h>

#include "sinew/ask/inquiry.hpp"
#include "sinew/ask/roll_call.hpp"

namespace sinew::tool {
namespace {

constexpr const char* ours = "/opt/sinew/lib/libmpi_abi.so.1";

stack_frame in_program(const char* function, const char* file, int line) {
  return {function, "/opt/solver", file, line};
}

/// A C program in MPI_Recv, at that line of solve().
rank_stacks waits_at(int line) {
  return {"",
          {{{"sinew::core::runtime::wait()", ours, "waiting.cpp", 8},
            {"PMPI_Recv", ours, "", 0},
            in_program("solve", "/src/solver.c", line),
            in_program("main", "/src/main.c", 3)}}};
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
  all[3] = {"its host has not answered", {}};
  EXPECT_FALSE(all_are_in_calls(all));
  EXPECT_NE(roll_call(all).find("rank 3: its host has not answered\n"), std::string::npos);
  EXPECT_EQ(roll_call({}), "");
}

TEST(roll_call, nobody_is_blamed_where_there_is_no_majority) {
  const roll all{{0, waits_at(1)}, {1, waits_at(2)}};
  EXPECT_EQ(roll_call(all).find("elsewhere"), std::string::npos);
  EXPECT_EQ(roll_call({{0, waits_at(1)}}), "  rank 0: MPI_Recv, in solve (solver.c:1)\n");
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
