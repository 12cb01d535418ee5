// SPDX-License-Identifier: BSD-3-Clause
// A number that tasks of all ranks change, one at a time: each has acquired a reservation before it
// starts, and releases it when it has ended. No task waits for the lock.
#include <cstdio>

#include "sinew/region/job.hpp"

using namespace sinew::event;
namespace region = sinew::region;

sinew::job* the_job;
region::field<std::int64_t> value;

/// Reads, adds one and writes: wrong if two do it at the same time.
void increment(std::uint64_t counter) {
  auto& regions = the_job->regions();
  const auto seen = regions.look(region::instance::from_bits(counter), value);
  seen[0] = seen[0] + 1;
}

int main() {
  sinew::job job({.workers = 2});
  the_job = &job;
  region::schema what(1);
  value = what.add<std::int64_t>("value");
  job.tasks().add<&increment>("increment");
  job.start();
  std::uint64_t lock = 0;
  std::uint64_t counter = 0;
  if (job.rank() == 0) {
    lock = job.locks().create().bits();
    const region::made one = job.regions().create(what, region::memory::shared(0));
    (void)job.events().wait(
        job.regions().fill(region::at(one.what, value), std::int64_t{0}, one.ready));
    counter = one.what.bits();
  }
  lock = job.gather(lock)[0];
  counter = job.gather(counter)[0];
  const reservation guard = reservation::from_bits(lock);
  std::vector<event> ends;
  for (int i = 0; i < 50; ++i) {
    const event held = job.locks().acquire(guard);
    ends.push_back(
        job.tasks().spawn<&increment>(job.tasks().at(0, i % 2u), {.after = held}, counter));
    job.locks().release(guard, ends.back());
  }
  (void)job.events().wait(job.events().merge(ends));
  job.meet();
  bool good = true;
  if (job.rank() == 0) {
    const auto seen = job.regions().look(region::instance::from_bits(counter), value);
    std::printf("%d increments\n", static_cast<int>(seen[0]));
    good = seen[0] == 50 * job.size();
  }
  job.meet();
  return good ? 0 : 1;
}
