// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 computes for a second and calls nothing. What rank 0 asks of it meanwhile ends before that
// computation does: a trigger, a lock that lies idle there, a barrier of its own, a copy from its
// private memory and, if it has two workers, a task for the second. With one worker nobody but the
// helper thread makes progress for it.
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include "expect.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/region/job.hpp"

namespace {

using namespace sinew;
using clock_type = std::chrono::steady_clock;

/// By a clock that all processes of the machine share.
std::uint64_t now_us() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(clock_type::now().time_since_epoch())
          .count());
}

volatile double sink = 0;
void compute(std::chrono::milliseconds length) {
  const auto end = clock_type::now() + length;
  while (clock_type::now() < end) {
    for (int i = 0; i < 10000; ++i) {
      sink = sink + i;
    }
  }
}

void note(std::uint64_t value) { sink = sink + static_cast<double>(value); }

void run(job& here) {
  const bool owner = here.rank() == 1;
  event::system& events = here.events();
  here.tasks().add<&note>("note");
  here.start();

  const event::user_event begun = events.create();
  const event::user_event there = events.create();
  const event::event after_both = events.merge(begun, there);
  const auto begun_all = here.gather(begun.bits());
  const auto there_all = here.gather(there.bits());
  const auto merged_all = here.gather(after_both.bits());
  const auto lock = event::reservation::from_bits(here.gather(here.locks().create().bits())[1]);
  const event::barrier meeting = events.all_barriers().create(1);
  const event::barrier far{here.gather(meeting.id)[1]};
  region::schema what(std::uint64_t{1000});
  const auto numbers = what.add<std::int64_t>("numbers");
  const region::made made = here.regions().create(what, region::memory::heap(here.rank()));
  expect(events.wait(made.ready) == event::state::triggered, "an instance");
  const region::instance mine = made.what;
  (void)here.regions().fill(region::at(mine, numbers), std::int64_t{here.rank().value() + 5});
  const auto theirs = region::instance::from_bits(here.gather(mine.bits())[1]);
  here.meet();

  std::uint64_t ended = 0;
  if (owner) {
    events.trigger(begun);
    compute(std::chrono::milliseconds(1000));
    ended = now_us();
  } else if (here.rank() == 0) {
    // Rank 1 has begun when this has: its trigger is what wakes rank 0.
    (void)events.wait(event::event::from_bits(begun_all[1]));
    events.trigger(event::user_event(event::event::from_bits(there_all[1])));
    expect(events.wait(event::event::from_bits(merged_all[1])) == event::state::triggered,
           "a merge on rank 1");
    const event::event got = here.locks().acquire(lock);
    expect(events.wait(got) == event::state::triggered, "a lock of rank 1");
    here.locks().release(lock);
    const event::event end = events.all_barriers().completed(far);
    events.all_barriers().arrive(far);
    expect(events.wait(end) == event::state::triggered, "a barrier of rank 1");
    if (here.tasks().all().processors.size() > static_cast<std::size_t>(here.size())) {
      expect(events.wait(here.tasks().spawn<&note>(here.tasks().at(1, 1), {}, std::uint64_t{4})) ==
                 event::state::triggered,
             "a task on rank 1");
    }
    const auto copied = here.regions().copy(region::at(theirs, numbers), region::at(mine, numbers));
    expect(events.wait(copied) == event::state::triggered, "a copy from rank 1");
    expect(here.regions().look<std::int64_t>(mine, numbers)[999] == 6, "what it has copied");
    ended = now_us();
  }
  const auto ends = here.gather(ended);
  if (here.rank() == 0) {
    const auto early = static_cast<double>(ends[1]) - static_cast<double>(ends[0]);
    std::printf("rank 0 had all of it %.0f ms before rank 1 had ended\n", early / 1000);
    expect(early > 0, "while rank 1 computes, rank 0 is served");
  }
}

}  // namespace

int main() {
  try {
    job here;
    if (here.size() < 2) {
      return 0;
    }
    run(here);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
