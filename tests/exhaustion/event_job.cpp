// SPDX-License-Identifier: BSD-3-Clause
// Events of one rank that others wait for, merged and triggered; a barrier; a lock.
#include <string>
#include <vector>

#include "job_of_regions.hpp"
#include "sinew/boot/session.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/event/reservation.hpp"

namespace {

namespace event = sinew::event;

bool job() {
  sinew::core::runtime& runtime = sinew::core::join_job(sinew::core::threading::one);
  event::system events(runtime);
  event::reservations locks(events);
  const bool first = runtime.rank() == 0;
  const auto size = static_cast<std::uint64_t>(runtime.size());
  std::vector<event::user_event> mine;
  for (int i = 0; i < 50; ++i) {
    mine.push_back(events.create());
  }
  event::barriers& meetings = events.all_barriers();
  runtime.session().put("event" + to_string(runtime.rank()), std::to_string(mine[7].bits()));
  if (first) {
    runtime.session().put("lock", std::to_string(locks.create().bits()));
    runtime.session().put("end", std::to_string(meetings.create(size).id));
  }
  runtime.session().fence();
  const auto number = [&](const std::string& key) {
    return std::stoull(runtime.session().get(key).value_or("0"));
  };
  const auto lock = event::reservation::from_bits(number("lock"));
  const event::barrier end{number("end")};
  std::vector<event::event> all;
  for (std::uint64_t r = 0; r < size; ++r) {
    all.push_back(event::event::from_bits(number("event" + std::to_string(r))));
  }
  const event::event everybody = events.merge(all);
  const event::event held = locks.acquire(lock, {}, everybody);
  for (const event::user_event& e : mine) {
    events.trigger(e);
  }
  bool good = events.wait(everybody) == event::state::triggered;
  good = events.wait(held) == event::state::triggered && good;
  locks.release(lock);
  const event::event met = meetings.completed(end);
  meetings.arrive(end);
  good = events.wait(met) == event::state::triggered && good;
  runtime.session().fence();
  if (first && good) {
    std::puts("good");
  }
  sinew::core::leave_job();
  return good;
}

}  // namespace

int main() { return exhaustion::run(job); }
