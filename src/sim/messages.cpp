// SPDX-License-Identifier: BSD-3-Clause
#include "sim/messages.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sinew::sim {
namespace {

/// Until all know of a notice; a seed makes it up to twice as long.
constexpr std::int64_t notice_ns = 5'000;

void add_to_digest(std::uint64_t& digest, const vw::record& head, int from, int to) {
  for (const std::uint64_t word :
       {static_cast<std::uint64_t>(head.time), static_cast<std::uint64_t>(from),
        static_cast<std::uint64_t>(to), std::uint64_t{head.id}, std::uint64_t{head.size}}) {
    digest = (digest ^ word) * 0x100000001b3U;
  }
}

}  // namespace

void messages::take_sent(int rank) {
  vw::ring& out = job_.port(rank).out;
  rank_state& r = job_.of(rank);
  while (const vw::record* const next = out.front()) {
    r.sent = std::max(next->time, r.sent);
    if (next->peer == vw::launcher) {
      events_.add_notice(r.sent, notice_ns, {rank, notice_kind::words, next->head});
      out.pop(*next);
      continue;
    }
    message m{*next, rank, static_cast<int>(next->peer), nullptr, false};
    if (next->size != 0) {
      m.data = std::make_unique_for_overwrite<std::byte[]>(next->size);
      std::memcpy(m.data.get(), next + 1, next->size);
    }
    out.pop(*next);
    events_.add_injection(rank, keep(std::move(m)));
  }
}

void messages::count_taken(int rank) {
  rank_state& r = job_.of(rank);
  const std::uint64_t read = job_.port(rank).in.read.load(std::memory_order_acquire);
  std::vector<std::pair<int, std::uint32_t>> taken;  // by sender
  while (!r.handed.empty() && r.handed.front().second <= read) {
    const int from = r.handed.front().first;
    r.handed.pop_front();
    const auto known = std::find_if(taken.begin(), taken.end(),
                                    [from](const auto& each) { return each.first == from; });
    known != taken.end() ? void(++known->second) : void(taken.emplace_back(from, 1));
  }
  for (const auto& [from, count] : taken) {
    rank_state& sender = job_.of(from);
    sender.credits.emplace_back(rank, count);
    if (sender.refused && sender.waits()) {
      events_.add_turn(from, job_.now);
    }
  }
}

bool messages::departs(const event& injection) {
  message& m = all_[injection.number];
  if (links_ == nullptr) {
    return true;
  }
  if (std::exchange(m.has_departure, true)) {
    if (job_.of(m.from).died) {
      let_go(injection.number);
      return false;
    }
    return true;
  }
  const std::int64_t time = links_->departure(net_.node_of(m.from), net_.node_of(m.to),
                                              m.head.size + sizeof m.head.head, job_.now);
  if (time == link_faults::never) {
    let_go(injection.number);
  } else if (time > job_.now) {
    events_.put_off(injection, time);
  }
  return time == job_.now;
}

void messages::inject(const event& injection) {
  if (!departs(injection)) {
    return;
  }
  const std::uint64_t number = injection.number;
  const message& m = all_[number];
  const std::uint64_t bytes = m.head.size + sizeof m.head.head;
  if (const auto time = net_.send({m.from, m.to, bytes, number}, job_.now)) {
    expect(number, *time);
  } else {
    ++job_.of(m.from).on_links;
  }
}

void messages::take_left() {
  left_.clear();
  net_.advance(job_.now, left_);
  for (const network::left& each : left_) {
    --job_.of(all_[each.number].from).on_links;
    expect(each.number, each.arrival);
  }
}

void messages::expect(std::uint64_t number, std::int64_t time) {
  message& m = all_[number];
  time += events_.varied(1 + (time - m.head.time) / 2);
  const std::uint64_t pair =
      static_cast<std::uint64_t>(m.from) << 32 | static_cast<std::uint32_t>(m.to);
  std::int64_t& last = last_arrival_[pair];
  last = std::max(time, last + 1);
  m.head.time = last;
  rank_state& sender = job_.of(m.from);
  sender.last_arrival = std::max(sender.last_arrival, last);
  events_.add_arrival(m.to, last, number);
}

void messages::arrive(std::uint64_t number) {
  const message& m = all_[number];
  ++job_.counted.messages;
  job_.counted.bytes += m.head.size;
  add_to_digest(job_.counted.digest, m.head, m.from, m.to);
  rank_state& receiver = job_.of(m.to);
  if (receiver.died) {
    return let_go(number);
  }
  receiver.arrived.push_back(number);
  if (receiver.waits() && receiver.arrived.size() == 1) {
    events_.add_turn(m.to, m.head.time);
  }
}

/// False: there was no room for all.
bool messages::hand_credits(int rank) {
  rank_state& r = job_.of(rank);
  vw::ring& in = job_.port(rank).in;
  while (!r.credits.empty()) {
    vw::record* const next = in.reserve(0);
    if (next == nullptr) {
      return false;
    }
    const auto [by, count] = r.credits.front();
    *next = {static_cast<std::uint32_t>(by), count, vw::credit, job_.now, {}};
    in.put(*next);
    r.credits.pop_front();
  }
  return true;
}

void messages::fill_ring(int rank) {
  rank_state& r = job_.of(rank);
  vw::ring& in = job_.port(rank).in;
  if (!hand_credits(rank)) {
    return;
  }
  while (!r.arrived.empty()) {
    const message& m = all_[r.arrived.front()];
    vw::record* const next = m.head.time <= r.local ? in.reserve(m.head.size) : nullptr;
    if (next == nullptr) {
      return;
    }
    *next = m.head;
    next->peer = static_cast<std::uint32_t>(m.from);
    if (m.head.size != 0) {
      std::memcpy(next + 1, m.data.get(), m.head.size);
    }
    in.put(*next);
    r.handed.emplace_back(m.from, in.written.load(std::memory_order_relaxed));
    let_go(r.arrived.front());
    r.arrived.pop_front();
  }
}

std::uint64_t messages::keep(message m) {
  if (free_.empty()) {
    all_.push_back(std::move(m));
    return all_.size() - 1;
  }
  const std::uint64_t number = free_.back();
  free_.pop_back();
  all_[number] = std::move(m);
  return number;
}

void messages::let_go(std::uint64_t number) {
  all_[number].data.reset();
  free_.push_back(number);
}

}  // namespace sinew::sim
