// SPDX-License-Identifier: BSD-3-Clause
// Every rank starts a task on the next rank. All of them wait for a gate that rank 0 opens, and a
// barrier at which they arrive adds up what they have computed.
#include <cstdint>
#include <cstdio>
#include <string>

#include "sinew/core/job.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/event/system.hpp"
#include "sinew/event/task.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace event = sinew::event;

void add(void* sum, const void* one) {
  *static_cast<std::uint64_t*>(sum) += *static_cast<const std::uint64_t*>(one);
}

// A task: a function of values that can be copied as bytes. It may run on any rank.
void square(event::task_context& me, std::uint64_t sum, std::uint64_t number) {
  const std::uint64_t result = number * number;
  std::printf("rank %d: %d squared is %d\n", me.here.rank().value(), static_cast<int>(number),
              static_cast<int>(result));
  me.all.events().all_barriers().arrive(event::barrier{sum}, 1, &result);
}

int main() {
  // This process's place in its job; one thread of it uses the runtime.
  auto& runtime = sinew::core::join_job(sinew::core::threading::one);
  const int rank = runtime.rank().value();
  const int ranks = runtime.size();
  {
    const sinew::fiber::scheduler workers({.workers = 1});  // tasks are fibers
    event::system events(runtime);
    event::barriers& barriers = events.all_barriers();
    event::tasks tasks(events);
    tasks.add<&square>("square");

    // Handles are numbers. Rank 0 writes two of them down, and all meet: now everybody has made
    // what takes messages, and can read them.
    if (rank == 0) {
      const std::uint64_t zero = 0;
      const auto arrivals = static_cast<std::uint64_t>(ranks);
      runtime.session().put("gate", std::to_string(events.create().bits()));
      runtime.session().put(
          "sum", std::to_string(barriers.create(arrivals, {sizeof zero, add, &zero}).id));
    }
    runtime.session().fence();
    const event::user_event gate(
        event::event::from_bits(std::stoull(runtime.session().get("gate").value())));
    const event::barrier sum{std::stoull(runtime.session().get("sum").value())};
    tasks.start();

    // The graph is laid out before anything happens: none of these calls waits.
    const event::event added = barriers.completed(sum);
    const event::event squared =
        tasks.spawn<&square>(tasks.at(sinew::job_rank{(rank + 1) % ranks}), {.after = gate}, sum.id,
                             static_cast<std::uint64_t>(rank + 1));
    const event::event done = events.merge(added, squared);
    if (rank == 0) {
      events.trigger(gate);  // off it goes
    }
    if (events.wait(done) == event::state::poisoned) {
      std::printf("rank %d: something has failed\n", rank);
    }
    std::uint64_t total = 0;
    if (rank == 0 && barriers.value(sum, &total)) {
      std::printf("together: %d\n", static_cast<int>(total));
    }

    // Nobody leaves while others still need it. Each asks for the end before it arrives.
    const event::barrier end = sum.next();
    const event::event all_done = barriers.completed(end);
    barriers.arrive(end);
    events.wait(all_done);
  }
  sinew::core::leave_job();
}
