// SPDX-License-Identifier: BSD-3-Clause
// A queue of waiters, each with a line of its own heap: `next`, who is behind it, `granted`, and
// `before`, who was in front of it when it came. The lock's word names the line of the last one, 0
// if there is none. (Mellor-Crummey and Scott 1991; `before` serves reports only.)
//
// A rank that dies takes its line along, and with it who comes next. So where the others go on a
// lock's word is the number of its holder, plus 1: who finds that this rank has died takes its
// place. Those who wait ask again and again.
#include "sinew/rma/lock.hpp"

#include <algorithm>

#include "rma/words.hpp"
#include "sinew/base/check.hpp"
#include "sinew/core/retry.hpp"

namespace sinew::rma {
namespace {

constexpr std::uint64_t next_at = 0;
constexpr std::uint64_t granted_at = 8;
constexpr std::uint64_t before_at = 16;
constexpr std::size_t nodes_per_block = 64;
static_assert(before_at + 8 <= line_bytes && next_at != granted_at && granted_at != before_at);

}  // namespace

lock_table::lock_table(engine& e) : engine_(e), losses_(core::losses::of(e.runtime())) {
  held_.reserve(nodes_per_block);
}

lock_table::~lock_table() {
  if (held_.empty()) {  // else others may still look at our lines
    for (const std::uint64_t block : blocks_) {
      engine_.memory().release(block);
    }
  }
}

/// Lists the lock as wanted by this rank; the line for it, or 0 if it is listed already.
std::uint64_t lock_table::enter(place lock) {
  SINEW_EXPECT(lock.offset % 8 == 0 && lock.offset != 0);
  const base::guard held(guard_, engine_.runtime().threaded());
  const std::uint64_t packed = pack(lock);
  if (std::any_of(held_.begin(), held_.end(), [&](const entry& e) { return e.lock == packed; })) {
    return 0;
  }
  if (nodes_.empty()) {
    const std::uint64_t block =
        engine_.memory().allocate(part::local, nodes_per_block * line_bytes);
    blocks_.push_back(block);
    for (std::size_t i = nodes_per_block; i-- > 0;) {
      nodes_.push_back(block + i * line_bytes);
    }
  }
  const std::uint64_t node = nodes_.back();
  nodes_.pop_back();
  held_.push_back({packed, node, false});
  auto* words = reinterpret_cast<std::uint64_t*>(engine_.at({engine_.rank(), node}));
  // Nobody knows this line yet; what makes it known is the swap of the lock's word.
  std::atomic_ref<std::uint64_t>(words[0]).store(0, std::memory_order_relaxed);
  std::atomic_ref<std::uint64_t>(words[1]).store(0, std::memory_order_relaxed);
  std::atomic_ref<std::uint64_t>(words[2]).store(0, std::memory_order_relaxed);
  return node;
}

void lock_table::leave(std::uint64_t node) {
  const base::guard held(guard_, engine_.runtime().threaded());
  [[maybe_unused]] const std::size_t erased =
      std::erase_if(held_, [node](const entry& e) { return e.node == node; });
  SINEW_ASSERT(erased == 1);
  nodes_.push_back(node);
}

void lock_table::mark_granted(std::uint64_t node) {
  const base::guard held(guard_, engine_.runtime().threaded());
  for (entry& e : held_) {
    e.granted = e.granted || e.node == node;
  }
}

/// It is listed as wanted by this rank.
lock_table::answer lock_table::try_by_name(place lock) {
  const std::uint64_t me = engine_.rank().index() + 1;
  std::uint64_t holder = engine_.compare_swap<std::uint64_t>(lock, 0, me);
  answer got = answer::done;
  if (holder != 0 && holder <= static_cast<std::uint64_t>(engine_.size()) &&
      losses_.is_dead(job_rank::of_index(holder - 1))) {
    const std::uint64_t dead = holder;
    got = answer::from_the_dead;
    holder = engine_.compare_swap<std::uint64_t>(lock, dead, me) == dead ? 0 : dead;
  }
  if (losses_.is_dead(lock.rank)) {
    return answer::lost;  // what came from there means nothing
  }
  return holder == 0 ? got : answer::taken;
}

lock_table::answer lock_table::acquire_by_name(place lock, bool once) {
  const std::uint64_t node = enter(lock);
  if (node == 0) {
    return answer::mine_already;
  }
  answer got = try_by_name(lock);
  for (core::retry_loop tries(engine_.runtime()); got == answer::taken && !once;) {
    tries.again();
    got = try_by_name(lock);
  }
  got == answer::done || got == answer::from_the_dead ? mark_granted(node) : leave(node);
  return got;
}

lock_table::answer lock_table::release_by_name(place lock) {
  const std::uint64_t me = engine_.rank().index() + 1;
  const std::uint64_t holder = engine_.compare_swap<std::uint64_t>(lock, me, 0);
  std::uint64_t node = 0;
  {
    const base::guard held(guard_, engine_.runtime().threaded());
    for (const entry& e : held_) {
      node = e.lock == pack(lock) && e.granted ? e.node : node;
    }
  }
  if (node != 0) {
    leave(node);
    return answer::done;
  }
  return holder == 0 ? answer::free : answer::taken;
}

lock_table::answer lock_table::acquire(place lock) {
  if (losses_.are_survived()) [[unlikely]] {
    return acquire_by_name(lock, false);
  }
  const std::uint64_t node = enter(lock);
  if (node == 0) {
    return answer::mine_already;
  }
  const std::uint64_t me = pack({engine_.rank(), node});
  const std::uint64_t last = engine_.swap<std::uint64_t>(lock, me);
  if (last != 0) {
    const place before = unpack(last);
    SINEW_ASSERT(before.rank != engine_.rank() && before.rank.below(engine_.size()));
    engine_.store<std::uint64_t>({engine_.rank(), node + before_at}, last);
    engine_.store<std::uint64_t>({before.rank, before.offset + next_at}, me);
    (void)engine_.wait(node + granted_at, until::equal, 1);
  }
  mark_granted(node);
  return answer::done;
}

lock_table::answer lock_table::try_acquire(place lock) {
  if (losses_.are_survived()) [[unlikely]] {
    return acquire_by_name(lock, true);
  }
  const std::uint64_t node = enter(lock);
  if (node == 0) {
    return answer::mine_already;
  }
  if (engine_.compare_swap<std::uint64_t>(lock, 0, pack({engine_.rank(), node})) != 0) {
    leave(node);
    return answer::taken;
  }
  mark_granted(node);
  return answer::done;
}

// Lines may change hands meanwhile, but they stay memory of the heap: the answer may be wrong then.
job_rank lock_table::holder(place lock) const {
  if (!engine_.maps(lock.rank)) {
    return no_job_rank;  // who asks for a report must not wait for another rank's answer
  }
  std::uint64_t at = engine_.load<std::uint64_t>(lock);
  if (losses_.are_survived()) {
    return at != 0 ? job_rank::of_index(at - 1) : no_job_rank;
  }
  for (int step = 0; at != 0 && step <= engine_.size(); ++step) {
    const place line = unpack(at);
    if (!engine_.maps(line.rank)) {
      return no_job_rank;
    }
    const std::uint64_t before = engine_.load<std::uint64_t>({line.rank, line.offset + before_at});
    if (before == 0 || engine_.load<std::uint64_t>({line.rank, line.offset + granted_at}) != 0) {
      return line.rank;
    }
    at = before;
  }
  return no_job_rank;
}

lock_table::answer lock_table::release(place lock) {
  if (losses_.are_survived()) [[unlikely]] {
    return release_by_name(lock);
  }
  std::uint64_t node = 0;
  {
    const base::guard held(guard_, engine_.runtime().threaded());
    const std::uint64_t packed = pack(lock);
    for (const entry& e : held_) {
      node = e.lock == packed && e.granted ? e.node : node;
    }
  }
  if (node == 0) {
    return engine_.load<std::uint64_t>(lock) == 0 ? answer::free : answer::taken;
  }
  const std::uint64_t me = pack({engine_.rank(), node});
  const place next_word{engine_.rank(), node + next_at};
  if (engine_.load<std::uint64_t>(next_word) != 0 ||
      engine_.compare_swap<std::uint64_t>(lock, me, 0) != me) {
    // Somebody has swapped the lock's word, and is about to write itself here.
    const place next = unpack(engine_.wait(node + next_at, until::not_equal, 0));
    SINEW_ASSERT(next.rank != engine_.rank() && next.rank.below(engine_.size()));
    engine_.store<std::uint64_t>({next.rank, next.offset + granted_at}, 1);
  }
  leave(node);
  return answer::done;
}

}  // namespace sinew::rma
