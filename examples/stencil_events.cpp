// SPDX-License-Identifier: BSD-3-Clause
// A stencil over ranks by events alone: all steps of all ranks are ordered before the first begins,
// and nobody waits until the last has ended.
//
//   build/bin/sinew run -n 4 build/examples/stencil_events
//
// Each rank has two rows of cells with a halo at both ends. Step t reads row t - 1 mod 2 and writes
// row t mod 2. It comes after the two halo copies of step t - 1, and those after the neighbours'
// and this rank's step t - 1. That a neighbour has read a row's ends before they are written again
// needs no event of its own: its next step, for which this rank's halos wait, came after.
#include <cstdio>
#include <vector>

#include "region_job.hpp"

namespace {

namespace event = sinew::event;
namespace region = sinew::region;

constexpr int cells = 1000;  // of a rank
constexpr int steps = 200;

double next_value(double left, double here, double right) {
  return 0.25 * left + 0.5 * here + 0.25 * right;
}
double first_value(int cell) { return (cell * 7919) % 1000; }

/// One rank's step, run by the event it comes after.
struct step {
  const double* from;
  double* to;
  event::system* events;
  event::user_event done;

  static void run(void* argument, bool poisoned) noexcept {
    const step& s = *static_cast<step*>(argument);
    if (poisoned) {
      s.events->poison(s.done);
      return;
    }
    for (int i = 1; i <= cells; ++i) {
      s.to[i] = next_value(s.from[i - 1], s.from[i], s.from[i + 1]);
    }
    s.events->trigger(s.done);
  }
};

bool equals_one_process(const region_job& job, const double* mine) {
  const int all = cells * job.size();
  std::vector<double> now(static_cast<std::size_t>(all));
  for (int i = 0; i < all; ++i) {
    now[static_cast<std::size_t>(i)] = first_value(i);
  }
  std::vector<double> then = now;
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < all; ++i) {
      then[static_cast<std::size_t>(i)] = next_value(
          now[static_cast<std::size_t>((i + all - 1) % all)], now[static_cast<std::size_t>(i)],
          now[static_cast<std::size_t>((i + 1) % all)]);
    }
    now.swap(then);
  }
  for (int i = 0; i < cells; ++i) {
    if (now[static_cast<std::size_t>(job.rank().value() * cells + i)] != mine[i]) {
      std::fprintf(stderr, "rank %d: cell %d is %g\n", job.rank().value(), i, mine[i]);
      return false;
    }
  }
  return true;
}

bool run(region_job& job) {
  // Two rows of cells, and the events of this rank's steps, which others find in an instance.
  region::schema what(cells + 2);
  const region::field<double> row[] = {what.add<double>("even"), what.add<double>("odd")};
  const auto mine = job.regions.create(what, region::memory::shared(job.rank())).what;
  region::schema handles(steps + 1);
  const auto handle = handles.add<std::uint64_t>("event");
  const auto my_events = job.regions.create(handles, region::memory::shared(job.rank())).what;

  double* const values[] = {job.regions.look(mine, row[0]).data(),
                            job.regions.look(mine, row[1]).data()};
  for (int i = 0; i < cells; ++i) {
    values[0][i + 1] = first_value(job.rank().value() * cells + i);
  }
  const auto done = job.regions.look(my_events, handle);
  for (int t = 0; t <= steps; ++t) {
    done[static_cast<std::uint64_t>(t)] = job.events.create().bits();
  }
  const auto all_rows = job.gather(mine.bits());
  const auto all_events = job.gather(my_events.bits());
  const auto of = [&](const std::vector<std::uint64_t>& all, int rank) {
    return region::instance::from_bits(
        all[static_cast<std::size_t>((rank + job.size()) % job.size())]);
  };

  const auto left = of(all_rows, job.rank().value() - 1);
  const auto right = of(all_rows, job.rank().value() + 1);
  const auto events_of = [&](int rank) {  // a copy: that rank may be on another node
    const auto here = job.regions.create(handles, region::memory::shared(job.rank())).what;
    (void)job.events.wait(job.regions.copy(of(all_events, rank), here));
    return job.regions.look(here, handle);
  };
  const auto left_done = events_of(job.rank().value() - 1);
  const auto right_done = events_of(job.rank().value() + 1);
  std::vector<step> all(steps);
  for (std::uint64_t t = 1; t <= steps; ++t) {
    const auto from = row[(t - 1) % 2];
    const auto ended = event::event::from_bits(done[t - 1]);
    const event::event halos = job.events.merge(
        job.regions.copy(region::at(left, from, {{cells, 1}}), region::at(mine, from, {{0, 1}}),
                         job.events.merge(ended, event::event::from_bits(left_done[t - 1]))),
        job.regions.copy(region::at(right, from, {{1, 1}}),
                         region::at(mine, from, {{cells + 1, 1}}),
                         job.events.merge(ended, event::event::from_bits(right_done[t - 1]))));
    step& s = all[t - 1];
    s = {values[(t - 1) % 2], values[t % 2], &job.events,
         event::user_event(event::event::from_bits(done[t]))};
    job.events.on(halos, step::run, &s);
  }

  job.events.trigger(event::user_event(event::event::from_bits(done[0])));  // off it goes
  const auto end = job.events.wait(event::event::from_bits(done[steps]));
  return end == event::state::triggered && equals_one_process(job, values[steps % 2] + 1);
}

}  // namespace

int main() {
  region_job job;
  const auto good = job.gather(run(job) ? 1 : 0);
  for (const std::uint64_t one : good) {
    if (one == 0) {
      return 1;
    }
  }
  if (job.rank() == 0) {
    std::printf("%d cells on %d ranks, %d steps: as one process computes them\n",
                cells * job.size(), job.size(), steps);
  }
  return 0;
}
