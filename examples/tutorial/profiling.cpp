// SPDX-License-Identifier: BSD-3-Clause
// When a task and a copy could start, started and ended, where, and how the copy went.
#include <array>
#include <cstdio>

#include "sinew/event/profile.hpp"
#include "sinew/region/job.hpp"

using namespace sinew::event;
namespace region = sinew::region;

void work() {}

int main() {
  sinew::job job({.workers = 1});
  job.tasks().add<&work>("work");
  job.start();
  region::schema what(1000);
  const auto f = what.add<double>("value");
  const sinew::job_rank next{(job.rank().value() + 1) % job.size()};
  const region::made from = job.regions().create(what, region::memory::heap(job.rank()));
  const region::made to = job.regions().create(what, region::memory::shared(next));
  (void)job.events().wait(job.events().merge(from.ready, to.ready));
  profiler seen(job.events());
  event done;
  {
    const profiled these(seen, 7);
    done = job.tasks().spawn<&work>(job.tasks().at(next), {});
    done = job.regions().copy(region::at(from.what, f), region::at(to.what, f), done);
  }
  (void)job.events().wait(done);
  int responses = 0;
  bool good = true;
  while (responses < 2) {
    (void)job.events().wait(seen.filled());
    std::array<profile, 2> some;
    const std::size_t n = seen.pop(some);
    for (std::size_t i = 0; i < n; ++i) {
      const profile& p = some[i];
      std::printf("rank %d: a %s on rank %d\n", job.rank().value(),
                  p.kind == performed::task ? "task" : "copy", p.where.value());
      good = good && p.tag == 7 && p.ready_ns <= p.started_ns && p.started_ns <= p.ended_ns;
    }
    responses += static_cast<int>(n);
  }
  job.regions().destroy(from.what);
  job.regions().destroy(to.what);
  return good ? 0 : 1;
}
