// SPDX-License-Identifier: BSD-3-Clause
// A task on each processor of each rank. Tasks are functions with names; the event that spawn()
// returns triggers when the task has ended.
#include <cstdio>

#include "sinew/region/job.hpp"

using sinew::event::event;
using sinew::event::task_context;

void hello(task_context& me, int number) {
  std::printf("hello %d from processor %u of rank %d\n", number, me.here.index(),
              me.here.rank().value());
}

int main() {
  sinew::job job({.workers = 2});
  job.tasks().add<&hello>("hello");
  job.start();
  if (job.rank() == 0) {
    std::vector<event> ends;
    for (const auto& p : job.tasks().all().processors) {
      ends.push_back(job.tasks().spawn<&hello>(p.where, {}, static_cast<int>(ends.size())));
    }
    (void)job.events().wait(job.events().merge(ends));
  }
}
