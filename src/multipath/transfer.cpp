// SPDX-License-Identifier: BSD-3-Clause
// Carrying out: each rank's paths as a row of small pumps.
//
// A path is a chain of ranks. At every rank but the first it has a ring of `slots` chunks of its
// own; the rank before puts a chunk there and raises `arrived`, the rank after it gives room by
// raising `limit`. Both then mark the relay in its rank's marks, and a rank works on marked
// relays, one chunk each in turn.
//
// No deadlock. Paths share no room, so a relay waits for two things only: a chunk from the
// relay before, or room at the relay after. The last relay always takes: its room is the
// receive buffer, or a ring that it empties there. So by induction from the end of a path each of
// its relays gets room in the end, as every rank in the call serves whatever is marked.
//
// No lost mark. A word changes before its mark is set, and marks are taken before words are looked
// at; setting and taking are sequentially consistent read-modify-writes, so whoever takes a mark
// sees the change for which it was set. Who finds the word of marks not empty leaves the summary to
// the one who made it so: that one's summary bit comes later than his mark, and the owner, when it
// takes this bit, takes the whole word. (Over nodes the summary is marked each time, in order.)
//
// Over nodes a rank never waits for one neighbour while it could serve another: order is that of
// the messages to one rank (fence(rank), post_or), not that of all puts.
#include "sinew/multipath/transfer.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "multipath/relay.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::multipath {
namespace {

using rma::until;

std::uint64_t time_ns() { return static_cast<std::uint64_t>(now_ns()); }

std::uint64_t pack_verdict(job_rank who, job_rank silent) {
  return static_cast<std::uint64_t>(who.value() + 1) |
         static_cast<std::uint64_t>(silent.value() + 1) << 32;
}

}  // namespace

/// What a call was given.
struct transfer::buffers {
  const std::byte* send;
  std::span<const std::size_t> send_at;
  std::byte* receive;
  std::span<const std::size_t> receive_at;

  [[nodiscard]] const std::byte* from(const relay& s) const {
    return send + send_at[s.destination.index()] + s.offset;
  }
  [[nodiscard]] std::byte* to(const relay& s) const {
    return receive + receive_at[s.source.index()] + s.offset;
  }
};

std::string delivery::sentence() const {
  if (ok()) {
    return "delivered";
  }
  const std::string missed =
      silent < 0 ? std::string("nothing moved, though all ranks are alive")
                 : "rank " + to_string(silent) + " is dead, or has not entered the call";
  return "rank " + to_string(who) + " gave up: " + missed;
}

delivery transfer::alltoallv(const void* send, std::span<const std::size_t> send_at, void* receive,
                             std::span<const std::size_t> receive_at) {
  if (!verdict_.ok()) {
    return verdict_;
  }
  SINEW_EXPECT(send_at.size() == to_.size() && receive_at.size() == from_.size());
  const buffers call{static_cast<const std::byte*>(send), send_at, static_cast<std::byte*>(receive),
                     receive_at};
  begin(call);
  while (!finished()) {
    collect();
    if (!verdict_.ok()) {
      return verdict_;
    }
    const std::uint32_t index = next_in_turn();
    if (index == route::nothing) {
      if (!wait_for_marks()) {
        return give_up(silent_rank());
      }
    } else if (step(relays_[index], call)) {
      enqueue(index);
    }
  }
  SINEW_ENSURE(own_.empty() && forward_.empty());
  engine_.put({rank_, block_ + offsetof(block_head, done)}, &call_, 8);
  return {};
}

void transfer::begin(const buffers& call) {
  SINEW_EXPECT(finished());
  const auto me = rank_.index();
  if (to_[me] != 0) {
    std::memmove(call.receive + call.receive_at[me], call.send + call.send_at[me], to_[me]);
  }
  ++call_;
  open_ = relays_.size();
  progress_ns_ = time_ns();
  if (options_.patience_s > 0) {
    note_beats();
  }
  for (std::uint32_t i = 0; i < relays_.size(); ++i) {
    relay& s = relays_[i];
    SINEW_ASSERT(s.moved == s.end && s.moved == (call_ - 1) * s.chunks);
    s.end = call_ * s.chunks;
    if (s.last()) {
      const std::uint64_t target = engine_.offset_of(call.to(s));
      s.direct = target != 0 && engine_.offset_of(call.to(s) + s.bytes - 1) != 0;
      const std::uint64_t told = s.direct ? target : 0;
      engine_.put({s.before.rank, s.before.lines + offsetof(relay_lines, target)}, &told, 8);
      engine_.fence(s.before.rank);
      give_room(s);
    }
    enqueue(i);  // what was marked before this call is looked at once
  }
}

/// Whether a chunk can be moved now.
bool transfer::movable(const relay& s) const {
  if (s.moved == s.end) {
    return false;
  }
  if (!s.first()) {
    const auto arrived =
        engine_.load<std::uint64_t>({rank_, s.lines + offsetof(relay_lines, arrived)});
    // No more than this relay gave room for: what came in excess would have overwritten others.
    SINEW_ASSERT(arrived >= s.moved && arrived <= (s.direct ? s.end : s.moved + options_.slots));
    if (arrived <= s.moved) {
      return false;
    }
  }
  if (s.last()) {
    return true;
  }
  const auto limit = engine_.load<std::uint64_t>({rank_, s.lines + offsetof(relay_lines, limit)});
  SINEW_ASSERT(limit >= s.moved);
  return limit > s.moved;
}

/// Moves one chunk if it can. Whether to come again.
bool transfer::step(relay& s, const buffers& call) {
  SINEW_EXPECT(!s.queued);
  if (!movable(s)) {
    return false;
  }
  if (!s.last() && link_busy(s.after.rank)) {
    (void)engine_.runtime().poll();
    // Wait: until the link's modelled time is over.
    sched_yield();
    return true;
  }
  const std::uint64_t chunk = s.moved % s.chunks;
  SINEW_ASSERT(chunk * chunk_ < s.bytes);
  const std::uint64_t bytes = std::min(chunk_, s.bytes - chunk * chunk_);
  std::byte* slot =
      s.first() ? nullptr : engine_.at({rank_, s.ring + s.moved % options_.slots * s.stride});
  if (s.last()) {
    if (!s.direct) {
      std::memcpy(call.to(s) + chunk * chunk_, slot, bytes);
    }
    ++s.moved;
  } else {
    put_chunk(s, s.first() ? call.from(s) + chunk * chunk_ : slot, bytes);
  }
  if (!s.first() && !(s.direct && engine_.maps(s.before.rank))) {
    give_room(s);
  }
  if (options_.patience_s > 0) {
    progress_ns_ = time_ns();
    note_beats();
  }
  if (s.moved != s.end) {
    return true;
  }
  SINEW_ASSERT(open_ != 0);
  --open_;
  return false;
}

void transfer::put_chunk(relay& s, const std::byte* from, std::uint64_t bytes) {
  SINEW_EXPECT(bytes <= s.stride);  // what a slot of the next ring holds
  std::uint64_t to = s.after.ring + s.moved % options_.slots * s.stride;
  if (s.after_is_last) {
    std::uint64_t target = 0;
    engine_.get(&target, {rank_, s.lines + offsetof(relay_lines, target)}, 8);
    if (target != 0) {
      to = target + s.moved % s.chunks * chunk_;
    }
  }
  engine_.put({s.after.rank, to}, from, bytes);
  ++s.moved;
  engine_.fence(s.after.rank);  // whoever sees the count sees the bytes
  engine_.put({s.after.rank, s.after.lines + offsetof(relay_lines, arrived)}, &s.moved, 8);
  mark(s.after.rank, s.after.bit);
  if (options_.link_time_ns) {
    link_free_ns_[s.after.rank.index()] = time_ns() + options_.link_time_ns(s.after.rank, bytes);
  }
}

/// Tells the rank before how far it may go.
void transfer::give_room(relay& s) {
  std::uint64_t limit = s.moved + options_.slots;
  if (s.last()) {
    // Into a receive buffer all may be put at once; but not over a network, where a rank would wait
    // in a put to one neighbour while its links to others are idle.
    limit = s.direct && engine_.maps(s.before.rank) ? s.end : std::min(limit, s.end);
  }
  engine_.put({s.before.rank, s.before.lines + offsetof(relay_lines, limit)}, &limit, 8);
  mark(s.before.rank, s.before.bit);
}

bool transfer::link_busy(job_rank to) const {
  return options_.link_time_ns && time_ns() < link_free_ns_[to.index()];
}

void transfer::mark(job_rank rank, std::uint32_t bit) {
  SINEW_EXPECT(bit / 64 < words_);
  const std::uint64_t word = bit / 64;
  const rma::place marks{rank, block_ + sizeof(block_head) + 8 * word};
  const rma::place summary{rank, block_ + offsetof(block_head, summary)};
  const std::uint64_t own = std::uint64_t{1} << (bit % 64);
  const std::uint64_t of_word = std::uint64_t{1} << (word % summary_words);
  if (engine_.maps_all()) {
    if (engine_.fetch_or<std::uint64_t>(marks, own) == 0) {
      engine_.fetch_or<std::uint64_t>(summary, of_word);
    }
    return;
  }
  // Another node's answer would take longer than the second message that it may save, and this
  // rank's other links would be idle meanwhile.
  engine_.fence(rank);
  engine_.post_or<std::uint64_t>(marks, own);
  engine_.post_or<std::uint64_t>(summary, of_word);
}

void transfer::enqueue(std::uint32_t index) {
  SINEW_EXPECT(index < relays_.size());
  relay& s = relays_[index];
  if (s.queued || s.moved == s.end) {
    return;
  }
  s.queued = true;
  (s.first() ? own_ : forward_).push_back(index);
}

std::uint32_t transfer::next_in_turn() {
  const bool turn = options_.rule == route::queue_rule::round_robin && own_turn_;
  own_turn_ = !own_turn_;
  auto& queue = (turn && !own_.empty()) || forward_.empty() ? own_ : forward_;
  if (queue.empty()) {
    return route::nothing;
  }
  const std::uint32_t index = queue.front();
  queue.pop_front();
  relays_[index].queued = false;
  return index;
}

void transfer::collect() {
  const rma::place summary{rank_, block_ + offsetof(block_head, summary)};
  if (engine_.load<std::uint64_t>(summary) == 0) {
    return;
  }
  auto bits = engine_.take_bits<std::uint64_t>(summary.offset);
  if ((bits & alarm) != 0) {
    const auto word = engine_.load<std::uint64_t>({rank_, block_ + offsetof(block_head, verdict)});
    SINEW_ASSERT(word != 0);  // told before the alarm
    verdict_ = {delivery::end::abandoned, job_rank{static_cast<int>(word & 0xffffffff) - 1},
                job_rank{static_cast<int>(word >> 32) - 1}};
    return;
  }
  for (; bits != 0; bits &= bits - 1) {
    for (auto w = static_cast<std::size_t>(std::countr_zero(bits)); w < words_;
         w += summary_words) {
      auto marks = engine_.take_bits<std::uint64_t>(block_ + sizeof(block_head) + 8 * w);
      for (; marks != 0; marks &= marks - 1) {
        enqueue(static_cast<std::uint32_t>(w * 64) +
                static_cast<std::uint32_t>(std::countr_zero(marks)));
      }
    }
  }
}

/// False: this rank's patience is over.
bool transfer::wait_for_marks() {
  const std::uint64_t summary = block_ + offsetof(block_head, summary);
  if (options_.patience_s <= 0) {
    (void)engine_.wait(summary, until::not_equal, 0);
    return true;
  }
  // In slices, so that the others see this rank alive. The runtime looks at such a condition every
  // 10 ms at the latest, and nobody rings for it: patience costs speed.
  struct condition {
    rma::engine& engine;
    rma::place summary;
    std::uint64_t until_ns;
  } wanted{engine_, {rank_, summary}, 0};
  const auto ready = [](void* c) {
    const auto& w = *static_cast<condition*>(c);
    return w.engine.load<std::uint64_t>(w.summary) != 0 || time_ns() >= w.until_ns;
  };
  const auto patience = static_cast<std::uint64_t>(options_.patience_s * 1e9);
  while (engine_.load<std::uint64_t>(wanted.summary) == 0) {
    engine_.put({rank_, block_ + offsetof(block_head, beat)}, &++beat_, 8);
    const std::uint64_t now = time_ns();
    if (now >= progress_ns_ + patience) {
      return false;
    }
    wanted.until_ns = std::min(now + patience / 8, progress_ns_ + patience);
    engine_.runtime().wait_until(ready, &wanted);
  }
  return true;
}

/// Remembers how far everybody's heart has beaten, to find later whose stands still.
void transfer::note_beats() {
  for (job_rank r = 0; r.below(size_); ++r) {
    engine_.get(&beats_[r.index()], {r, block_ + offsetof(block_head, beat)}, 8);
  }
}

/// A rank that is not done with this call and whose heart has stood still since this one last moved
/// something; one that is waited for directly, if there is any.
job_rank transfer::silent_rank() const {
  std::vector<bool> still(static_cast<std::size_t>(size_));
  job_rank found = no_job_rank;
  for (std::size_t index = still.size(); index-- > 0;) {
    const job_rank r = job_rank::of_index(index);
    const auto word = [&](std::uint64_t at) {
      return engine_.load<std::uint64_t>({r, block_ + at});
    };
    still[index] = r != rank_ && word(offsetof(block_head, done)) < call_ &&
                   word(offsetof(block_head, beat)) == beats_[index];
    if (still[index]) {
      found = r;
    }
  }
  for (const relay& s : relays_) {
    if (s.moved == s.end) {
      continue;
    }
    for (const job_rank r : {s.before.rank, s.after.rank}) {
      if (r >= 0 && still[r.index()]) {
        return r;
      }
    }
  }
  return found;
}

delivery transfer::give_up(job_rank silent) {
  SINEW_EXPECT(verdict_.ok() && silent != rank_);
  verdict_ = {delivery::end::gave_up, rank_, silent};
  for (job_rank r = 0; r.below(size_); ++r) {
    if (r == rank_) {
      continue;
    }
    engine_.store<std::uint64_t>({r, block_ + offsetof(block_head, verdict)},
                                 pack_verdict(rank_, silent));
    engine_.fetch_or<std::uint64_t>({r, block_ + offsetof(block_head, summary)}, alarm);
  }
  return verdict_;
}

}  // namespace sinew::multipath
