// SPDX-License-Identifier: BSD-3-Clause
// Kinds of processors that a program names.
#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/base/error.hpp"
#include "with_tasks.hpp"

namespace {

using namespace sinew;
using namespace sinew::test;
using event::processor;
using event::state;
using event::task_context;
using event::tasks;
using occurrence = event::event;

std::array<std::atomic<int>, 2> blocked;
std::atomic<bool> go_on;
/// Keeps the whole worker.
void block(int which) {
  blocked[static_cast<std::size_t>(which)] = 1;
  while (!go_on) {
    std::this_thread::yield();
  }
}
std::atomic<std::uint64_t> ran_at;
void where_am_i(task_context& c) { ran_at = c.here.bits(); }

void name_all(tasks& all) {
  all.add<&block>("block");
  all.add<&where_am_i>("where am I");
}

std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& e) {
    return e.what();
  }
  return "no failure";
}

TEST(kinds, are_known_on_every_rank) {
  with_tasks(
      3, backend::inproc,
      [](event_member& m, tasks& all) {
        name_all(all);
        all.open("io", m.rank == 1 ? 0 : 2);
        all.open("slow", m.rank == 2 ? 0 : 1);
        EXPECT_NE(failure_of([&] { (void)all.of_kind("io"); }).find("have not been started"),
                  std::string::npos);
        all.start();
        // The two workers come first, then the kinds in their order; what is left is as the two.
        const std::vector<std::uint32_t> expected = {0, 0, 1, 1, 2, 0, 0, 2, 0, 0, 0, 0, 1, 1, 0};
        std::vector<std::uint32_t> kinds;
        for (const auto& p : all.all().processors) {
          kinds.push_back(p.kind);
        }
        EXPECT_EQ(kinds, expected);
        EXPECT_EQ(all.all().kinds, (std::vector<std::string>{"worker", "io", "slow"}));
        EXPECT_EQ(all.all().of_kind("slow"),
                  (std::vector<processor>{processor(0, 4), processor(1, 2)}));
        EXPECT_EQ(all.all().of_kind("worker").size(), 9u);
        EXPECT_TRUE(all.all().of_kind("gpu").empty());
        EXPECT_NE(
            failure_of([&] { (void)all.of_kind("gpu"); }).find("no processor of kind \"gpu\""),
            std::string::npos);
      },
      3);
}

TEST(kinds, keep_the_other_workers_free) {
  go_on = false;
  with_tasks(
      2, backend::shm,
      [](event_member& m, tasks& all) {
        name_all(all);
        all.open("io", m.rank == 1 ? 2 : 0);
        all.start();
        if (m.rank == 0) {
          const processor io = all.of_kind("io");  // both are the other rank's
          std::vector<occurrence> ends;
          for (int i = 0; i < 2; ++i) {
            ends.push_back(all.spawn<&block>(io, {}, i));
          }
          m.until([] { return blocked[0] != 0 && blocked[1] != 0; });
          for (std::uint32_t w = 0; w < 2; ++w) {
            EXPECT_EQ(m.events.wait(all.spawn<&where_am_i>(all.at(1, w), {})), state::triggered);
            EXPECT_EQ(ran_at, all.at(1, w).bits());
          }
          const occurrence third = all.spawn<&where_am_i>(all.at(1, 2), {});
          EXPECT_EQ(m.events.look(m.events.merge(ends)), state::pending);
          EXPECT_EQ(m.events.look(third), state::pending) << "its worker is kept";
          go_on = true;
          ends.push_back(third);
          EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
        }
        m.meet();
      },
      2);
}

TEST(kinds, are_refused_where_they_make_no_sense) {
  with_tasks(
      1, backend::inproc,
      [](event_member& m, tasks& all) {
        name_all(all);
        const auto why = [&](const char* name, int n) {
          return failure_of([&] { all.open(name, n); });
        };
        EXPECT_EQ(why("io", 1), "no failure");
        EXPECT_NE(why("io", 1).find("there is such a kind already"), std::string::npos);
        EXPECT_NE(why("worker", 1).find("there is such a kind already"), std::string::npos);
        EXPECT_NE(why("more", 2).find("2 workers are wanted, and of the scheduler's further ones 1 "
                                      "are left"),
                  std::string::npos);
        EXPECT_NE(why("more", -1).find("-1 workers are wanted"), std::string::npos);
        EXPECT_NE(why("", 1).find("the name is empty"), std::string::npos);
        for (int i = 1; i < 8; ++i) {
          EXPECT_EQ(why(("kind " + std::to_string(i)).c_str(), 0), "no failure");
        }
        EXPECT_NE(why("ninth", 0).find("there are 8 kinds already"), std::string::npos);
        all.start();
        EXPECT_NE(why("late", 0).find("the ranks have compared"), std::string::npos);
        EXPECT_EQ(m.events.wait(all.spawn<&where_am_i>(all.of_kind("io"), {})), state::triggered);
        EXPECT_EQ(ran_at, all.at(0, 2).bits());
      },
      2);
}

TEST(kinds, are_the_same_on_all_ranks_or_the_job_does_not_start) {
  with_tasks(
      2, backend::inproc,
      [](event_member& m, tasks& all) {
        name_all(all);
        all.open(m.rank == 0 ? "io" : "disk", 1);
        const std::string why = failure_of([&] { all.start(); });
        EXPECT_NE(why.find("rank 0 has \"the kind io\" where rank 1 has \"the kind disk\""),
                  std::string::npos)
            << why;
      },
      1);
}

}  // namespace
