// SPDX-License-Identifier: BSD-3-Clause
// A buffer on rank 0 that all ranks fill, guarded by a reservation: each rank acquires it, has a
// task on rank 0 put a number there, and releases it; rank 0 has another task empty it now and
// then. Nobody waits for the lock: a task starts when its lock was granted, on whichever rank, and
// the lock is released when the task has ended. All of it is laid out before the first item moves.
//
//   sinew run -n 3 --trace t.json build/examples/producer_consumer
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "sinew/base/log.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/boot/session.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/event/system.hpp"
#include "sinew/event/task.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace {

using namespace sinew::event;

constexpr int items_of_a_rank = 200;

std::vector<int> buffer;  // rank 0's; guarded by the reservation
long taken = 0;
long total = 0;

void put(int value) { buffer.push_back(value); }

void take() {
  while (!buffer.empty()) {
    total += buffer.back();
    ++taken;
    buffer.pop_back();
  }
}

/// A number that rank 0 has and all need.
std::uint64_t agree(sinew::core::runtime& runtime, const std::string& key, std::uint64_t mine) {
  if (runtime.rank() == 0) {
    runtime.session().put(key, std::to_string(mine));
  }
  runtime.session().fence();
  return std::stoull(runtime.session().get(key).value_or(std::to_string(mine)));
}

int run() {
  for (const std::string& complaint : sinew::settings::load_environment()) {
    sinew::log_line(sinew::log_level::warn, complaint);
  }
  auto runtime = sinew::core::runtime::open(sinew::boot::connect(), sinew::core::threading::one);
  const sinew::fiber::scheduler workers({.workers = 1});
  sinew::event::system events(*runtime);
  reservations locks(events);
  tasks all(events);
  all.add<&put>("put");
  all.add<&take>("take");
  const bool first = runtime->rank() == 0;
  const auto lock =
      reservation::from_bits(agree(*runtime, "lock", first ? locks.create().bits() : 0));
  barriers& meetings = events.all_barriers();
  const auto members = static_cast<std::uint64_t>(runtime->size());
  const barrier end{agree(*runtime, "end", first ? meetings.create(members).id : 0)};
  all.start();

  const user_event go = events.create();
  std::vector<event> ends;
  for (int i = 0; i < items_of_a_rank; ++i) {
    const event got = locks.acquire(lock, {}, go);
    ends.push_back(all.spawn<&put>(all.at(0), {.after = got}, runtime->rank().value() * 1000 + i));
    locks.release(lock, ends.back());
    if (first && i % 50 == 49) {
      const event got_again = locks.acquire(lock, {}, go);
      ends.push_back(all.spawn<&take>(all.at(0), {.after = got_again}));
      locks.release(lock, ends.back());
    }
  }
  events.trigger(go);
  const event done = events.merge(ends);
  bool good = events.wait(done) == state::triggered;

  // All make progress until the last has produced; then rank 0 looks. Each asks for the end before
  // it arrives: rank 0, which answers, makes no more progress once all have arrived.
  const event all_arrived = meetings.completed(end);
  meetings.arrive(end);
  good = events.wait(all_arrived) == state::triggered && good;
  if (runtime->rank() == 0) {
    take();
    long expected = 0;
    for (int r = 0; r < runtime->size(); ++r) {
      for (int i = 0; i < items_of_a_rank; ++i) {
        expected += r * 1000 + i;
      }
    }
    good = good && taken == long{items_of_a_rank} * runtime->size() && total == expected;
    std::printf("%ld items, sum %ld: %s\n", taken, total, good ? "as it should be" : "wrong");
  }
  runtime->session().fence();
  runtime->session().finalize();
  return good ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
