// SPDX-License-Identifier: BSD-3-Clause
// Tasks on fibers: named on every rank, started anywhere, ended as events.
#include "sinew/event/task.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "event/task_groups.hpp"
#include "gtest/gtest.h"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/event_job.hpp"
#include "with_tasks.hpp"

namespace {

using namespace sinew;
using namespace sinew::test;
using event::processor;
using event::reservations;
using event::state;
using event::task_context;
using event::tasks;
using event::user_event;
using occurrence = event::event;

// What the tasks below leave behind; each test clears what it uses.
std::atomic<int> sum;
std::atomic<int> last_rank;
std::vector<int> order_of_runs;
std::mutex order_lock;  // guards it while tasks run: they may be on two workers

void add_up(int a, double b, std::array<char, 3> c) {
  sum.fetch_add(a + static_cast<int>(b) + c[2]);
}
void where_am_i(task_context& c) { last_rank.store(c.here.rank().value()); }
bool refuse() { return false; }
void fail() { throw std::runtime_error("by design"); }
void note(int number) {
  const std::lock_guard held(order_lock);
  order_of_runs.push_back(number);
}
void wait_for(task_context& c, std::uint64_t what) {
  (void)c.all.events().wait(occurrence::from_bits(what));
  sum.fetch_add(1);
}
reservations* common_locks;
int inside;  // guarded by a reservation
void lock_for_a_scope(task_context& c, std::uint64_t lock, std::uint64_t go) {
  const event::hold mine = common_locks->lock(event::reservation::from_bits(lock));
  EXPECT_EQ(inside++, 0);
  (void)c.all.events().wait(occurrence::from_bits(go));
  --inside;
  sum.fetch_add(1);
}
void never_named() {}
std::atomic<bool> keep_busy;
std::atomic<bool> is_busy;
void be_busy() {
  is_busy.store(true);
  while (keep_busy.load()) {
    std::this_thread::yield();
  }
}
std::atomic<bool> keep_second_busy;
void be_busy_beside() {
  is_busy.store(true);
  while (keep_second_busy.load()) {
    std::this_thread::yield();
  }
}
/// Touches that much of its stack, from the top down.
bool use_stack(std::uint64_t bytes) {
  constexpr std::size_t step = 1024;
  volatile char some[step];
  some[0] = static_cast<char>(bytes);
  return bytes <= step || (use_stack(bytes - step) && some[0] == static_cast<char>(bytes));
}
struct large {
  std::array<std::uint32_t, 1000> words;
};
void add_large(large v) {
  for (const std::uint32_t w : v.words) {
    sum.fetch_add(static_cast<int>(w));
  }
}

void name_all(tasks& all) {
  all.add<&where_am_i>("where am I");
  all.add<&add_up>("add up");
  all.add<&refuse>("refuse");
  all.add<&fail>("fail");
  all.add<&note>("note");
  all.add<&wait_for>("wait for");
  all.add<&add_large>("add large");
  all.add<&be_busy>("be busy");
  all.add<&be_busy_beside>("be busy beside");
  all.add<&use_stack>("use stack");
  all.add<&lock_for_a_scope>("lock for a scope");
}

class task_contract : public testing::TestWithParam<std::tuple<int, backend>> {};

TEST_P(task_contract, runs_where_it_was_sent_with_its_values_when_its_time_has_come) {
  sum = 0;
  with_tasks(std::get<0>(GetParam()), std::get<1>(GetParam()), [](event_member& m, tasks& all) {
    name_all(all);
    all.start();
    ASSERT_EQ(all.all().processors.size(), 2u * static_cast<unsigned>(m.size));
    const user_event go = m.events.create();
    const occurrence e = all.spawn<&add_up>(all.at(m.next(), 1), {.after = go}, 1, 2.0,
                                            std::array<char, 3>{0, 0, 3});
    m.settle();
    EXPECT_EQ(m.events.look(e), state::pending);
    m.events.trigger(go);
    EXPECT_EQ(m.events.wait(e), state::triggered);
    m.meet();
    EXPECT_EQ(sum.load(), 6 * m.size);
    large many{};
    many.words.fill(1);
    m.meet();
    EXPECT_EQ(m.events.wait(all.spawn<&add_large>(all.at(m.next()), {}, many)), state::triggered);
    m.meet();
    EXPECT_EQ(sum.load(), 1006 * m.size);
    m.meet();
    if (m.rank == 0) {
      for (int r = 0; r < m.size; ++r) {
        EXPECT_EQ(m.events.wait(all.spawn<&where_am_i>(all.at(job_rank{r}), {})), state::triggered);
        EXPECT_EQ(last_rank.load(), r);
      }
    }
  });
}

TEST_P(task_contract, fails_with_its_precondition_by_its_result_or_by_an_exception) {
  with_tasks(std::get<0>(GetParam()), std::get<1>(GetParam()), [](event_member& m, tasks& all) {
    name_all(all);
    all.start();
    const processor there = all.at(m.next());
    const user_event bad = m.events.create();
    const occurrence first =
        all.spawn<&add_up>(there, {.after = bad}, 1, 1.0, std::array<char, 3>{});
    const occurrence second = all.spawn<&where_am_i>(there, {.after = first});
    m.events.poison(bad);
    EXPECT_EQ(m.events.wait(second), state::poisoned);
    EXPECT_EQ(m.events.wait(all.spawn<&refuse>(there, {})), state::poisoned);
    EXPECT_EQ(m.events.wait(all.spawn<&fail>(there, {})), state::poisoned);
  });
}

// Random tasks with random preconditions and a lock for each; a task checks that those before it
// have ended, and changes what its lock guards.
struct model {
  static constexpr std::size_t most = 400;
  static constexpr std::size_t locks = 5;
  std::array<std::atomic<int>, most> ended{};
  std::array<std::uint64_t, locks> guarded{};
  std::array<event::reservation, locks> lock{};
  std::array<reservations*, 8> sides{};
};
model* now_tested;

bool step(task_context& c, std::uint32_t me, std::uint32_t before, std::uint32_t other,
          std::uint32_t which, std::uint32_t kind) {
  model& m = *now_tested;
  for (const std::uint32_t b : {before, other}) {
    if (b != me && m.ended[b].load() == 0) {
      return false;  // it has started too early
    }
  }
  reservations& locks = *m.sides[c.here.rank().index()];
  if (kind == 0) {  // waits inside; else somebody has acquired it for us
    const event::hold mine = locks.lock(m.lock[which]);
    ++m.guarded[which];
  } else {
    ++m.guarded[which];
  }
  m.ended[me].store(1);
  return true;
}

TEST_P(task_contract, random_graphs_of_tasks_and_locks_agree_with_the_model) {
  const std::uint64_t seed = seed_from_environment();
  model model;
  now_tested = &model;
  with_tasks(std::get<0>(GetParam()), std::get<1>(GetParam()), [&](event_member& m, tasks& all) {
    all.add<&step>("step");
    reservations locks(m.events);
    model.sides[static_cast<std::size_t>(m.rank)] = &locks;
    if (m.rank == 0) {
      for (auto& l : model.lock) {
        l = locks.create();
      }
    }
    m.meet();
    all.start();
    std::array<std::uint64_t, model::locks> expected{};
    if (m.rank == 0) {
      random_generator choice(seed);
      std::vector<occurrence> done;
      const user_event go = m.events.create();
      const auto count = static_cast<std::uint32_t>(model::most);
      for (std::uint32_t i = 0; i < count; ++i) {
        const auto before = static_cast<std::uint32_t>(i == 0 ? 0 : choice.below(i));
        const auto other = static_cast<std::uint32_t>(i == 0 ? 0 : choice.below(i));
        const auto which = static_cast<std::uint32_t>(choice.below(model::locks));
        // A lock is acquired for a task on the rank of the task only, so here for tasks of rank 0.
        const auto rank = static_cast<int>(choice.below(static_cast<std::uint64_t>(m.size)));
        const std::uint32_t kind = rank == 0 && choice.with_probability(0.5) ? 1 : 0;
        occurrence after = i == 0 ? occurrence(go) : m.events.merge(done[before], done[other]);
        if (kind == 1) {
          after = locks.acquire(model.lock[which], {}, after);
        }
        done.push_back(
            all.spawn<&step>(all.at(job_rank{rank}, static_cast<std::uint32_t>(choice.below(2))),
                             {.after = after, .priority = static_cast<int>(choice.below(3))}, i,
                             before, other, which, kind));
        if (kind == 1) {
          locks.release(model.lock[which], done.back());
        }
        ++expected[which];
      }
      m.events.trigger(go);
      EXPECT_EQ(m.events.wait(m.events.merge(done)), state::triggered);
      EXPECT_EQ(model.guarded, expected);
    }
    m.settle();
    EXPECT_EQ(locks.misuses(), 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(fabrics, task_contract,
                         testing::Combine(testing::Values(1, 2, 5),
                                          testing::Values(backend::inproc, backend::shm)),
                         [](const auto& i) {
                           return name_of(std::get<1>(i.param)) + "_" +
                                  std::to_string(std::get<0>(i.param));
                         });

TEST(task, waits_as_a_fiber_while_others_run_on_its_worker) {
  sum = 0;
  with_tasks(2, backend::shm, [](event_member& m, tasks& all) {
    name_all(all);
    all.start();
    if (m.rank == 0) {
      const user_event go = m.events.create();
      std::vector<occurrence> ends;
      for (int i = 0; i < 100; ++i) {
        ends.push_back(all.spawn<&wait_for>(all.at(job_rank{i % 2}), {}, go.bits()));
      }
      const occurrence last = all.spawn<&add_up>(all.at(1), {}, 1000, 0.0, std::array<char, 3>{});
      EXPECT_EQ(m.events.wait(last), state::triggered);
      EXPECT_EQ(sum.load(), 1000);
      m.events.trigger(go);
      EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
      EXPECT_EQ(sum.load(), 1100);
    }
  });
}

TEST(task, holds_a_reservation_for_a_scope_across_its_waits) {
  sum = 0;
  inside = 0;
  with_tasks(1, backend::shm, [](event_member& m, tasks& all) {
    reservations locks(m.events);
    common_locks = &locks;
    name_all(all);
    all.start();
    const event::reservation lock = locks.create();
    const user_event go = m.events.create();
    std::vector<occurrence> ends;
    for (int i = 0; i < 50; ++i) {
      ends.push_back(all.spawn<&lock_for_a_scope>(all.at(0), {}, lock.bits(), go.bits()));
    }
    // One of them holds it and waits in its scope, the others wait for it: workers are free.
    const occurrence other = all.spawn<&add_up>(all.at(0), {}, 1000, 0.0, std::array<char, 3>{});
    EXPECT_EQ(m.events.wait(other), state::triggered);
    EXPECT_EQ(sum.load(), 1000);
    m.events.trigger(go);
    EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
    EXPECT_EQ(sum.load(), 1050);
    EXPECT_EQ(locks.held(lock), 0u);
  });
}

TEST(task, with_the_greatest_priority_goes_first_among_those_that_can_start) {
  order_of_runs.clear();
  with_tasks(1, backend::inproc, [](event_member& m, tasks& all) {
    name_all(all);
    all.start();
    // This one keeps the worker until the others are ready behind it.
    is_busy = false;
    keep_busy = true;
    const occurrence busy = all.spawn<&be_busy>(all.at(0, 1), {});
    m.until([] { return is_busy.load(); });
    const user_event go = m.events.create();
    std::vector<occurrence> ends;
    for (const int p : {1, 5, 3, 5, 2}) {
      ends.push_back(all.spawn<&note>(all.at(0, 1), {.after = go, .priority = p},
                                      p * 10 + static_cast<int>(ends.size())));
    }
    m.events.trigger(go);
    keep_busy = false;
    EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
    EXPECT_EQ(m.events.wait(busy), state::triggered);
    EXPECT_EQ(order_of_runs, (std::vector<int>{51, 53, 32, 24, 10}));
  });
}

TEST(task, has_the_stack_that_it_was_started_with_on_any_rank) {
  order_of_runs.clear();
  with_tasks(2, backend::inproc, [](event_member& m, tasks& all) {
    name_all(all);
    all.start();
    std::vector<occurrence> ends;
    for (std::uint64_t each = 0; each < 30; ++each) {
      // Small and large ones alternate; a fiber of one kind must not take a task of the other.
      const std::uint64_t bytes = each % 3 == 0 ? 32'000 : std::uint64_t{1'000'000} << each % 3;
      ends.push_back(all.spawn<&use_stack>(
          all.at(m.next(), each % 2),
          {.priority = static_cast<int>(each * 7 % 5),
           .stack_bytes = each % 3 == 0 ? 0 : static_cast<std::size_t>(bytes + 300'000)},
          bytes));
    }
    EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
    EXPECT_THROW((void)all.spawn<&refuse>(all.at(0), {.stack_bytes = std::size_t{2} << 30}), error);
    m.meet();
    if (m.rank == 0) {  // priorities go before stacks
      is_busy = false;
      keep_busy = true;
      ends = {all.spawn<&be_busy>(all.at(0, 1), {})};
      m.until([] { return is_busy.load(); });
      for (const int p : {1, 5, 3, 4}) {
        ends.push_back(all.spawn<&note>(
            all.at(0, 1), {.priority = p, .stack_bytes = p % 2 == 0 ? 0u : 1u << (15 + p)}, p));
      }
      keep_busy = false;
      EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
      EXPECT_EQ(order_of_runs, (std::vector<int>{5, 4, 3, 1}));
    }
    m.meet();
  });
}

TEST(task, of_a_group_goes_round_its_members_on_all_ranks) {
  sum = 0;
  with_tasks(3, backend::inproc, [](event_member& m, tasks& all) {
    name_all(all);
    all.start();
    static std::uint64_t shared;
    if (m.rank == 0) {
      const processor of[3] = {all.at(0), all.at(1), all.at(2, 1)};
      shared = all.group(of).bits();
      EXPECT_THROW((void)all.group({}), error);
      const processor again[1] = {processor::from_bits(shared)};
      EXPECT_THROW((void)all.group(again), error);
    }
    m.meet();
    std::vector<occurrence> ends;
    for (int i = 0; i < 30; ++i) {
      ends.push_back(
          all.spawn<&add_up>(processor::from_bits(shared), {}, 1, 0.0, std::array<char, 3>{}));
    }
    EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
    m.meet();
    EXPECT_EQ(sum.load(), 90);
  });
}

TEST(task, of_a_group_goes_to_the_member_that_is_free_and_by_priority) {
  order_of_runs.clear();
  with_tasks(2, backend::inproc, [](event_member& m, tasks& all) {
    name_all(all);
    all.start();
    if (m.rank == 0) {
      const std::array<processor, 2> of{all.at(1), all.at(0, 1)};
      const processor shared = all.group(of);
      const user_event gate = m.events.create();
      const occurrence kept = all.spawn<&wait_for>(shared, {}, gate.bits());  // at rank 1
      is_busy = false;
      keep_busy = true;
      const occurrence busy = all.spawn<&be_busy>(shared, {});  // at rank 0
      m.until([] { return is_busy.load(); });
      const user_event first = m.events.create();
      const user_event bad = m.events.create();
      m.events.poison(bad);
      std::vector<occurrence> ends;
      for (const int p : {1, 3, 2}) {
        ends.push_back(all.spawn<&note>(shared, {.after = first, .priority = p}, p));
      }
      EXPECT_EQ(m.events.wait(all.spawn<&note>(shared, {.after = bad}, 7)), state::poisoned);
      m.events.trigger(first);
      keep_busy = false;
      EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
      EXPECT_EQ(m.events.look(kept), state::pending) << "they did not wait for rank 1";
      EXPECT_EQ(m.events.wait(busy), state::triggered);
      m.events.trigger(gate);
      EXPECT_EQ(m.events.wait(kept), state::triggered);
    }
    m.meet();
  });
  EXPECT_EQ(order_of_runs.size(), 3u);
}

TEST(task, of_groups_and_of_processors_go_by_priority_together) {
  for (const int member : {0, 1}) {  // of the group's own rank, and of another one
    order_of_runs.clear();
    with_tasks(2, backend::inproc, [member](event_member& m, tasks& all) {
      name_all(all);
      all.start();
      std::vector<occurrence> ends;
      if (m.rank == 0) {
        const processor one = all.at(job_rank{member}, 1);
        const std::array<processor, 1> of{one};
        const processor shared = all.group(of);
        is_busy = false;
        keep_busy = true;
        ends.push_back(all.spawn<&be_busy>(one, {}));
        m.until([] { return is_busy.load(); });
        for (const int p : {2, 6, 4}) {
          ends.push_back(all.spawn<&note>(shared, {.priority = p}, p));
          ends.push_back(all.spawn<&note>(one, {.priority = p - 1}, p - 1));
        }
      }
      m.settle();  // what was recalled has come back, and what is more urgent is there
      keep_busy = false;
      EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
      m.settle();
    });
    const std::vector<int> together = {6, 5, 4, 3, 2, 1};
    if (member == 0) {
      EXPECT_EQ(order_of_runs, together);
    } else {  // the next one of the group may still be on its way
      ASSERT_EQ(order_of_runs.size(), together.size());
      EXPECT_EQ(order_of_runs.front(), 6);
    }
  }
}

TEST(task, of_a_group_takes_a_place_also_if_a_less_urgent_one_has_started) {
  for (const int member : {0, 1}) {  // of the group's own rank, and of another one
    order_of_runs.clear();
    with_tasks(2, backend::inproc, [member](event_member& m, tasks& all) {
      name_all(all);
      all.start();
      if (m.rank == 0) {
        const processor second = all.at(job_rank{member}, 1);
        const std::array<processor, 2> of{all.at(job_rank{member}), second};
        const processor shared = all.group(of);
        keep_busy = true;
        keep_second_busy = true;
        std::vector<occurrence> ends;
        is_busy = false;
        ends.push_back(all.spawn<&be_busy_beside>(second, {}));
        m.until([] { return is_busy.load(); });
        is_busy = false;
        ends.push_back(all.spawn<&be_busy>(shared, {}));  // at the first member
        m.until([] { return is_busy.load(); });
        ends.push_back(all.spawn<&note>(shared, {.priority = 1}, 1));  // at the second
        ends.push_back(all.spawn<&note>(shared, {.priority = 5}, 5));
        m.settle();
        keep_second_busy = false;
        EXPECT_EQ(m.events.wait(ends.back()), state::triggered);
        keep_busy = false;
        EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
      } else {
        m.settle();
      }
    });
    EXPECT_EQ(order_of_runs, (std::vector<int>{5, 1}));
  }
}

TEST(task, of_a_group_takes_a_place_also_if_there_is_one_behind_that) {
  order_of_runs.clear();
  with_tasks(1, backend::inproc, [](event_member& m, tasks& all) {
    name_all(all);
    all.start();
    const std::array<processor, 1> of{all.at(0, 1)};
    const processor shared = all.group(of);
    is_busy = false;
    keep_busy = true;
    std::vector<occurrence> ends{all.spawn<&be_busy>(of[0], {})};
    m.until([] { return is_busy.load(); });
    ends.push_back(all.spawn<&note>(shared, {.priority = 3}, 3));
    ends.push_back(all.spawn<&note>(shared, {.priority = 2}, 2));
    const std::int64_t handed_out_ns = now_ns() + 3 * event::task_groups::first_patience_ns;
    m.until([=] { return now_ns() > handed_out_ns; });  // both
    ends.push_back(all.spawn<&note>(shared, {.priority = 5}, 5));
    keep_busy = false;
    EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
  });
  EXPECT_EQ(order_of_runs, (std::vector<int>{5, 3, 2}));
}

TEST(task, of_a_group_may_wait_for_one_behind_it) {
  sum = 0;
  with_tasks(2, backend::inproc, [](event_member& m, tasks& all) {
    name_all(all);
    all.start();
    const std::array<processor, 1> of{all.at(m.next(), 1)};
    const processor shared = all.group(of);
    const user_event gate = m.events.create();
    std::vector<occurrence> ends;
    for (int i = 0; i < 3; ++i) {
      ends.push_back(all.spawn<&wait_for>(shared, {}, gate.bits()));
    }
    const occurrence last = all.spawn<&where_am_i>(shared, {});
    const user_event opened = m.events.create();
    m.events.trigger(opened, last);
    m.events.trigger(gate, opened);
    EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
    m.meet();
    EXPECT_EQ(sum.load(), 6);
  });
}

TEST(task, for_an_invented_group_of_another_rank_fails_and_nothing_else) {
  with_tasks(2, backend::inproc, [](event_member& m, tasks& all) {
    name_all(all);
    all.start();
    const processor nowhere(m.next(), 5, true);
    EXPECT_EQ(m.events.wait(all.spawn<&where_am_i>(nowhere, {})), state::poisoned);
    EXPECT_EQ(m.events.wait(all.spawn<&where_am_i>(all.at(m.next()), {})), state::triggered);
    m.meet();
  });
}

TEST(task, without_a_name_or_a_place_is_an_error_that_says_so) {
  with_tasks(1, backend::inproc, [](event_member&, tasks& all) {
    EXPECT_THROW((void)all.spawn<&refuse>(all.at(0), {}), error) << "not started";
    name_all(all);
    EXPECT_THROW(all.add<&refuse>("refuse again"), error);
    EXPECT_THROW(all.add<&never_named>("refuse"), error);
    EXPECT_THROW(all.add<&never_named>(""), error);
    all.start();
    EXPECT_THROW(all.add<&never_named>("late"), error);
    EXPECT_THROW(all.start(), error);
    try {
      (void)all.spawn<&never_named>(all.at(0), {});
      ADD_FAILURE();
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("has no name"), std::string::npos);
    }
    EXPECT_THROW((void)all.spawn<&refuse>(all.at(3), {}), error);
    EXPECT_THROW((void)all.spawn<&refuse>(all.at(0, 2), {}), error);
  });
}

TEST(task, tables_that_differ_are_told_to_every_rank) {
  with_tasks(3, backend::shm, [](event_member& m, tasks& all) {
    all.add<&where_am_i>("both");
    if (m.rank != 1) {
      all.add<&refuse>("only some");
    }
    try {
      all.start();
      ADD_FAILURE() << "they differ";
    } catch (const error& e) {
      const std::string what = e.what();
      EXPECT_NE(what.find("\"only some\" where rank 1 has nothing more"), std::string::npos)
          << what;
    }
    m.settle();
  });
}

TEST(task, needs_fibers) {
  run_events(1, backend::inproc, core::threading::one,
             [](event_member& m) { EXPECT_THROW(tasks{m.events}, error); });
}

TEST(machine, knows_what_is_near) {
  with_tasks(2, backend::inproc, [](event_member& m, tasks& all) {
    all.start();
    const event::machine& whole = all.all();
    EXPECT_EQ(whole.ranks, m.size);
    ASSERT_EQ(whole.memories.size(), 5u);
    const auto& mine = whole.processors.front();
    EXPECT_EQ(mine.where, all.at(0, 0));
    for (const event::memory_info& each : whole.memories) {
      const event::affinity near = whole.between(mine, each);
      EXPECT_GT(near.bandwidth, 0.0);
      EXPECT_LE(near.bandwidth, 1.0);
      EXPECT_GE(near.latency, 1.0);
    }
    // Private memory of the other rank is farther than what it shares, wherever both are.
    const event::affinity other = whole.between(mine, whole.memories[2]);
    EXPECT_LT(other.bandwidth, whole.between(mine, whole.memories[3]).bandwidth);
    EXPECT_TRUE(other.estimated);
  });
}

/// Four ranks on a machine unlike this one: two to a memory node.
event::machine on(const topology::memory_map& map) {
  event::machine m;
  m.ranks = 4;
  m.map = &map;
  for (int r = 0; r < m.ranks; ++r) {
    m.processors.push_back({processor(job_rank{r}, 0), r / 2});
    m.memories.push_back({event::memory_kind::heap, job_rank{r}});
    m.memories.push_back({event::memory_kind::symmetric, job_rank{r}});
  }
  m.memories.push_back({event::memory_kind::global, -1});
  return m;
}

TEST(machine, follows_the_memory_nodes) {
  const auto map = topology::memory_map::described("pack:2 [numa] core:2 pu:1");
  const event::machine whole = on(map);
  const auto& mine = whole.processors[0];
  const auto& memories = whole.memories;
  EXPECT_EQ(whole.node_of(3), 1);
  EXPECT_EQ(whole.between(mine, memories[0]).latency, 1.0);
  EXPECT_EQ(whole.between(mine, memories[3]).latency, 1.0) << "shared memory of the same node";
  EXPECT_GT(whole.between(mine, memories[2]).latency, 1.0) << "private to another rank";
  const event::affinity far = whole.between(mine, memories[5]);
  EXPECT_LT(far.bandwidth, 1.0);
  EXPECT_GT(far.latency, 1.0);
  EXPECT_TRUE(far.estimated);
  // Half of the stripes are near.
  EXPECT_DOUBLE_EQ(whole.between(mine, memories.back()).latency, (1 + far.latency) / 2);
  EXPECT_DOUBLE_EQ(1 / whole.between(mine, memories.back()).bandwidth, (1 + 1 / far.bandwidth) / 2);
  // From the other side the same, and between memories what the worse side allows.
  EXPECT_EQ(whole.between(whole.processors[3], memories[5]).latency, 1.0);
  EXPECT_EQ(whole.between(memories[1], memories[5]).bandwidth, far.bandwidth);
  EXPECT_EQ(whole.between(memories[1], memories[3]).bandwidth, 1.0);
}

}  // namespace
