// SPDX-License-Identifier: BSD-3-Clause
// A graph of tasks that is laid out before anything runs: two after a start, one after both, and
// one that fails with what it depends on.
#include <cstdio>

#include "sinew/region/job.hpp"

using sinew::event::event;
using sinew::event::state;
using sinew::event::user_event;

void step(int number) { std::printf("step %d\n", number); }
bool fail() { return false; }  // poisons its event

int main() {
  sinew::job job({.workers = 2});
  job.tasks().add<&step>("step");
  job.tasks().add<&fail>("fail");
  job.start();
  auto& events = job.events();
  auto& tasks = job.tasks();
  const auto other = tasks.at(sinew::job_rank{(job.rank().value() + 1) % job.size()});
  const user_event start = events.create();
  const event left = tasks.spawn<&step>(tasks.at(job.rank()), {.after = start}, 1);
  const event right = tasks.spawn<&step>(other, {.after = start}, 2);
  const event last = tasks.spawn<&step>(other, {.after = events.merge(left, right)}, 3);
  const event failed = tasks.spawn<&fail>(other, {.after = last});
  const event never = tasks.spawn<&step>(other, {.after = failed}, 4);
  events.trigger(start);
  if (events.wait(last) != state::triggered || events.wait(never) != state::poisoned) {
    return 1;
  }
  std::printf("rank %d: done\n", job.rank().value());
}
