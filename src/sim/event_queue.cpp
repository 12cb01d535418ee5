// SPDX-License-Identifier: BSD-3-Clause
#include "sim/event_queue.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"

namespace sinew::sim {
namespace {

/// Whether the long messages of one that has died have left.
constexpr std::int64_t look_again_ns = 1000;

}  // namespace
namespace {

/// A turn for what its rank no longer waits for.
bool is_stale(const event& e, const rank_state& rank) {
  return e.what == happening::turn &&
         (rank.runs || rank.left || rank.returns || rank.hand_overs != e.number);
}

std::int64_t delayed(const std::vector<fault>& faults, int rank, std::int64_t time) {
  for (const fault& each : faults) {
    const bool is_slow = each.what == fault_kind::slow && each.rank == rank;
    time += is_slow && time >= each.from_ns && time < each.to_ns ? each.later_ns : 0;
  }
  return time;
}

}  // namespace

void event_queue::add_injection(int sender, std::uint64_t message) {
  injections_.push({job_.of(sender).sent,
                    static_cast<std::uint64_t>(sender) << 40 | of(sender).messages++,
                    happening::injection, sender, message});
}

void event_queue::put_off(const event& injection, std::int64_t time) {
  SINEW_EXPECT(injection.what == happening::injection && time > job_.now);
  event later = injection;
  later.time = time;
  injections_.push(later);
}

void event_queue::add_arrival(int receiver, std::int64_t time, std::uint64_t message) {
  const std::uint64_t swapped = job_.chosen.seed != 0 ? random_.below(256) : 0;
  events_.push({time, ++arrivals_ ^ swapped, happening::arrival, receiver, message});
}

void event_queue::add_notice(std::int64_t time, std::int64_t delay, const notice& what) {
  std::int64_t& seen = of(what.rank).noticed;
  delay += varied(delay);
  seen = std::max(time + delay, seen + 1);
  notices_.emplace(std::pair(seen, what.rank), what);
}

void event_queue::add_turn(int rank, std::int64_t time) {
  const rank_state& r = job_.of(rank);
  events_.push({delayed(job_.chosen.faults, rank, std::max(time, r.local)),
                std::uint64_t{1} << 63 | static_cast<std::uint64_t>(rank), happening::turn, rank,
                r.hand_overs});
}

void event_queue::drop_stale_turns() {
  while (!events_.empty() && is_stale(events_.top(), job_.of(events_.top().rank))) {
    events_.pop();
  }
}

std::int64_t event_queue::next() {
  drop_stale_turns();
  return std::min({events_.empty() ? vw::never : events_.top().time,
                   injections_.empty() ? vw::never : injections_.top().time, next_notice()});
}

std::int64_t event_queue::next_notice() const {
  return notices_.empty() ? vw::never : notices_.begin()->first.first;
}

std::optional<event> event_queue::take_injection(std::int64_t time) {
  if (injections_.empty() || injections_.top().time > time) {
    return std::nullopt;
  }
  const event first = injections_.top();
  injections_.pop();
  return first;
}

// What one that has died had sent before comes before others know of it.
std::optional<notice> event_queue::take_notice(std::int64_t time) {
  while (next_notice() <= time) {
    const notice what = notices_.begin()->second;
    notices_.erase(notices_.begin());
    const rank_state& sender = job_.of(what.rank);
    const std::int64_t last = sender.on_links == 0 ? sender.last_arrival : time + look_again_ns;
    if (what.kind != notice_kind::death || last < time) {
      return what;
    }
    notices_.emplace(std::pair(last + 1, what.rank), what);
  }
  return std::nullopt;
}

std::optional<event> event_queue::take(std::int64_t end) {
  drop_stale_turns();  // no time passes for them
  if (events_.empty() || events_.top().time >= end) {
    return std::nullopt;
  }
  const event first = events_.top();
  events_.pop();
  return first;
}

std::int64_t event_queue::varied(std::int64_t end) {
  return job_.chosen.seed != 0
             ? static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(end)))
             : 0;
}

}  // namespace sinew::sim
