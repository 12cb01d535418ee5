// SPDX-License-Identifier: BSD-3-Clause
// Responses of tasks: of this and other ranks, of groups, of those that fail or never start.
#include "sinew/event/profile.hpp"

#include <array>
#include <thread>

#include "event/event_fixture.hpp"
#include "gtest/gtest.h"
#include "sinew/event/task.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace {

using namespace sinew;
using namespace sinew::test;
using event::moved_by;
using event::performed;
using event::profile;
using event::profiled;
using event::profiler;
using event::state;
using event::user_event;
using occurrence = event::event;

constexpr std::int64_t least_ns = 2'000'000;
void take_time() { std::this_thread::sleep_for(std::chrono::nanoseconds(least_ns)); }
bool go_wrong() { return false; }

std::vector<profile> all_of(event_member& m, profiler& from, std::size_t count) {
  std::vector<profile> got(count + 1);
  for (std::size_t n = 0; n < count;) {
    EXPECT_EQ(m.events.wait(from.filled()), state::triggered);
    n += from.pop(std::span(got).subspan(n));
    EXPECT_LE(n, count);
  }
  got.pop_back();
  return got;
}

void check_responses(event_member& m, event::tasks& all, profiler& seen) {
  const std::array<event::processor, 1> of{all.at(m.next())};
  const event::processor group = all.group(of);
  const user_event ready = m.events.create();
  const user_event bad = m.events.create();
  m.events.poison(bad);
  std::vector<occurrence> ends;
  {
    const profiled these(seen, 40);
    ends.push_back(all.spawn<&take_time>(all.at(m.next()), {.after = ready}));
    {
      const profiled inner(seen, 41);
      ends.push_back(all.spawn<&go_wrong>(all.at(job_rank{m.rank}), {}));
      ends.push_back(all.spawn<&take_time>(all.at(m.next()), {.after = bad}));
    }
    ends.push_back(all.spawn<&take_time>(group, {.after = ready}));
  }
  (void)m.events.wait(all.spawn<&take_time>(all.at(m.next()), {}));  // nobody asks about this one
  m.events.trigger(ready);
  for (const profile& p : all_of(m, seen, 4)) {
    const auto which =
        static_cast<std::size_t>(std::find(ends.begin(), ends.end(), p.what) - ends.begin());
    ASSERT_LT(which, 4u);
    EXPECT_EQ(p.kind, performed::task);
    EXPECT_EQ(p.way, moved_by::not_moved);
    EXPECT_EQ(p.tag, which == 1 || which == 2 ? 41u : 40u);
    EXPECT_EQ(p.poisoned, which == 1 || which == 2);
    EXPECT_EQ(p.where, which == 1 ? job_rank{m.rank} : m.next());
    if (which == 2) {
      EXPECT_EQ(p.started_ns, 0) << "it never started";
      EXPECT_EQ(p.ended_ns, 0);
    } else {
      EXPECT_GT(p.ready_ns, 0);
      EXPECT_GE(p.started_ns, p.ready_ns);
      EXPECT_GE(p.ended_ns, p.started_ns + (which == 1 ? 0 : least_ns));
    }
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(m.events.wait(ends[i]), i == 1 || i == 2 ? state::poisoned : state::triggered);
  }
}

TEST(profile, of_tasks_wherever_they_run) {
  const fiber::scheduler workers({.workers = 1, .pin = false});
  completion done;
  std::thread others([&] {  // the caller is a worker, and must not block
    run_events(2, backend::inproc, core::threading::many, [&](event_member& m) {
      event::tasks all(m.events);
      profiler seen(m.events);
      m.meet();
      all.add<&take_time>("take time");
      all.add<&go_wrong>("go wrong");
      all.start();
      check_responses(m, all, seen);
      m.meet();
      m.settle();
      m.until([&] { return all.pending() == 0; });
      m.settle();
    });
    done.complete();
  });
  fiber::wait(done);
  others.join();
}

}  // namespace
