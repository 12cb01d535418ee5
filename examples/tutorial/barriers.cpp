// SPDX-License-Identifier: BSD-3-Clause
// A barrier with values: in each phase every rank brings a number, and all get the sum. Nobody has
// to wait to arrive, and phases may be arrived at ahead.
#include <cstdio>

#include "sinew/event/barrier.hpp"
#include "sinew/region/job.hpp"

using namespace sinew::event;

void add(void* into, const void* value) {
  *static_cast<int*>(into) += *static_cast<const int*>(value);
}

int main() {
  sinew::job job({.workers = 1});
  barriers& all = job.events().all_barriers();
  barrier b;
  const int zero = 0;
  if (job.rank() == 0) {
    b = all.create(static_cast<std::uint64_t>(job.size()), {sizeof zero, add, &zero});
  }
  b.id = job.gather(b.id)[0];
  bool good = true;
  for (int phase = 0; phase < 3; ++phase, b = b.next()) {
    const event done = all.completed(b);  // asked for before arriving
    const int mine = job.rank().value() * phase;
    all.arrive(b, 1, &mine);
    (void)job.events().wait(done);
    int sum = -1;
    good = all.value(b, &sum) && sum == phase * job.size() * (job.size() - 1) / 2 && good;
    if (job.rank() == 0) {
      std::printf("phase %d: %d\n", phase, sum);
    }
  }
  return good ? 0 : 1;
}
