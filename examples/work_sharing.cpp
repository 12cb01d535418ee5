// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 has tasks of very different lengths, for whichever rank is free: a group of all
// processors. What each has found is added up by a barrier. On several hosts as on one:
//   sinew run --hosts h1:2,h2:2 build/examples/work_sharing
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "sinew/event/barrier.hpp"
#include "sinew/region/job.hpp"

namespace event = sinew::event;

std::atomic<std::uint64_t> done_here{0};

// Counts the primes in [from, to) by trial: the later, the longer.
void count_primes(std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t n = from; n < to; ++n) {
    bool prime = n > 1;
    for (std::uint32_t d = 2; prime && d * d <= n; ++d) {
      prime = n % d != 0;
    }
    done_here += prime ? 1 : 0;
  }
}

void add(void* sum, const void* one) {
  *static_cast<std::uint64_t*>(sum) += *static_cast<const std::uint64_t*>(one);
}

int main() {
  sinew::job here;
  event::system& events = here.events();
  here.tasks().add<&count_primes>("count primes");
  here.start();

  const std::uint64_t zero = 0;
  const auto ranks = static_cast<std::uint64_t>(here.size());
  const event::barrier sum{
      here.gather(events.all_barriers().create(ranks, {sizeof zero, add, &zero}).id)[0]};
  const event::event added = events.all_barriers().completed(sum);
  if (here.rank() == 0) {
    std::vector<event::processor> everybody;
    for (const event::processor_info& p : here.tasks().all().processors) {
      everybody.push_back(p.where);
    }
    const event::processor group = here.tasks().group(everybody);
    std::vector<event::event> ends;
    constexpr std::uint32_t step = 2000;
    for (std::uint32_t from = 0; from < 50 * step; from += step) {
      ends.push_back(here.tasks().spawn<&count_primes>(group, {}, from, from + step));
    }
    events.wait(events.merge(ends));
  }
  here.meet();
  const std::uint64_t mine = done_here;
  events.all_barriers().arrive(sum, 1, &mine);
  std::uint64_t total = 0;
  if (events.wait(added) == event::state::triggered && events.all_barriers().value(sum, &total)) {
    std::printf("rank %d has found %d primes of %d\n", here.rank().value(), static_cast<int>(mine),
                static_cast<int>(total));
  }
  return total == 9592 ? 0 : 1;
}
