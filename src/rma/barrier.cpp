// SPDX-License-Identifier: BSD-3-Clause
// Two algorithms. With a processor for each rank: dissemination (Hensgen, Finkel and Manber 1988).
// In round k each member notifies the one 2^k further on, and waits for the one 2^k before; after
// ceil(log2 n) rounds it has been notified, directly or not, by all. Each word is written by one
// member and read by one, and holds the number of the barrier, so nothing is ever reset. With more
// ranks than processors each round would be a change of process; there all count on one word and
// the last one releases all through another (the central counter of Mellor-Crummey and Scott 1991).
// Over several nodes it goes by levels: counters on each node, dissemination among their leaders.
//
// Lines: 0 how many have come, 1 the release, 2 how many have left for ever, then each member's
// rounds; of several nodes, those of this node's leader.
#include "sinew/rma/barrier.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "rma/words.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::rma {
namespace {

constexpr std::size_t come = 0;
constexpr std::size_t release = 1;
constexpr std::size_t gone = 2;
constexpr std::size_t first_round = 3;
constexpr std::uint64_t no_memory = 1;  ///< no block begins there

}  // namespace

void barrier::sort_by_node(std::span<const job_rank> members) {
  std::vector<int> nodes;
  const int here = engine_.node_of(engine_.rank());
  for (const job_rank r : members) {
    const int node = engine_.node_of(r);
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
      node_ = node == here ? nodes.size() : node_;
      nodes.push_back(node);
      leaders_.push_back({r, 0});
    }
    if (node == here) {
      me_ = r == engine_.rank() ? members_.size() : me_;
      members_.push_back(r);
    }
  }
  size_ = members.size();
  rounds_ =
      barrier_rounds(static_cast<int>(leaders_.size() == 1 ? members_.size() : leaders_.size()));
  SINEW_ENSURE(members_[me_] == engine_.rank() && leaders_[node_].rank == members_.front());
}

barrier::barrier(engine& e, all_ranks, std::uint64_t offset)
    : engine_(e), offset_(offset), owned_(false) {
  std::vector<job_rank> all;
  for (job_rank r = 0; r.below(e.size()); ++r) {
    all.push_back(r);
  }
  sort_by_node(all);
  for (leader& each : leaders_) {
    each.offset = offset;
  }
  SINEW_ENSURE(offset_ != 0 && size_ == static_cast<std::size_t>(e.size()));
}

barrier::barrier(engine& e, std::span<const job_rank> members) : engine_(e) {
  SINEW_CHECK(std::find(members.begin(), members.end(), e.rank()) != members.end(),
              "a barrier cannot be made",
              "rank " + to_string(e.rank()) + " is not one of its members", "");
  sort_by_node(members);
  if (leads()) {
    tell_lines(make_lines());
  } else {
    offset_ = e.read_mail(members_.front());
  }
  if (offset_ == no_memory) {
    refuse();
  }
  SINEW_ASSERT(offset_ % line_bytes == 0 && offset_ != 0);
  wait();  // so that no mail is overwritten before it was read
}

/// Of this node: an offset, or no_memory.
std::uint64_t barrier::make_lines() {
  engine_.release_those_due();
  const std::size_t bytes = leaders_.size() == 1 ? barrier_bytes(static_cast<int>(members_.size()))
                                                 : line_bytes * (first_round + rounds_);
  const std::uint64_t made = engine_.memory().try_allocate(part::local, bytes);
  if (made == 0) {
    return no_memory;
  }
  std::memset(engine_.at({engine_.rank(), made}), 0, bytes);
  return made;
}

/// Leaders tell each other, and then their members whether all have memory.
void barrier::tell_lines(std::uint64_t mine) {
  for (const leader& other : leaders_) {
    if (other.rank != engine_.rank()) {
      engine_.mail(other.rank, mine);
    }
  }
  bool all_have = true;
  for (leader& each : leaders_) {
    each.offset = each.rank == engine_.rank() ? mine : engine_.read_mail(each.rank);
    all_have = all_have && each.offset != no_memory;
  }
  offset_ = all_have ? mine : no_memory;
  for (std::size_t m = 1; m < members_.size(); ++m) {
    engine_.mail(members_[m], offset_);
  }
  if (!all_have && mine != no_memory) {
    engine_.memory().release(mine);
  }
}

/// A leader has no memory. Those who have sent mail must know that all have read it before they go
/// on.
void barrier::refuse() {
  if (!leads()) {
    engine_.signal(members_.front());
  }
  for (std::size_t m = 1; m < members_.size() && leads(); ++m) {
    engine_.await(members_[m]);
  }
  std::string who;
  if (leads()) {
    std::vector<job_rank> others;
    for (const leader& each : leaders_) {
      others.push_back(each.rank);
      who = each.offset == no_memory ? "rank " + to_string(each.rank) : who;
    }
    engine_.sync_with(others);
  } else {
    who = leaders_.size() == 1 ? "rank " + to_string(members_.front())
                               : "the first of these ranks on some node";
  }
  throw error("no memory for a barrier of " + std::to_string(size_) + " ranks",
              "the local heap of " + who + " is full", "set SINEW_RMA_LOCAL_HEAP to more");
}

barrier::~barrier() {
  if (!owned_) {
    return;
  }
  const place leavers{members_.front(), line(gone)};
  (void)engine_.fetch_add<std::uint64_t>(leavers, 1);
  if (leads()) {
    engine_.release_once(offset_, line(gone), members_.size());
  }
}

void barrier::wait() {
  const std::uint64_t epoch = ++epoch_;
  if (!engine_.maps_all()) {
    engine_.settle();
  }
  if (leaders_.size() != 1) {
    wait_by_levels(epoch);
  } else if (engine_.runtime().crowded()) {
    wait_at_counter(epoch);
  } else {
    wait_around(epoch);
  }
}

// The members of a node count, its leader goes around among the leaders, and then releases the
// node. Nobody waits for a word of another node: each leader writes into the next one's lines.
void barrier::wait_by_levels(std::uint64_t epoch) {
  const job_rank home = members_.front();
  const auto released = engine_.word_at<std::uint64_t>({home, line(release)});
  const auto count = engine_.word_at<std::uint64_t>({home, line(come)});
  const std::uint64_t wanted = epoch * members_.size();
  if (count.fetch_add(1, std::memory_order_seq_cst) + 1 == wanted && !leads()) {
    engine_.alert(home);  // the last one has come, and this is not the leader
  }
  if (!leads()) {
    engine_.wait_for(released, until::at_least, epoch);
    return;
  }
  engine_.wait_for(count, until::at_least, wanted);
  wait_for_leaders(epoch);
  released.store(epoch, std::memory_order_seq_cst);
  for (const job_rank r : members_) {
    if (r != engine_.rank()) {
      engine_.alert(r);
    }
  }
}

void barrier::wait_for_leaders(std::uint64_t epoch) {
  const std::size_t n = leaders_.size();
  SINEW_EXPECT(leads() && n <= std::size_t{1} << rounds_);
  for (std::size_t k = 0; k < rounds_; ++k) {
    const leader& next = leaders_[(node_ + (std::size_t{1} << k)) % n];
    const std::uint64_t round = (first_round + k) * line_bytes;
    engine_.announce({next.rank, next.offset + round}, epoch);
    (void)engine_.wait(offset_ + round, until::at_least, epoch);
  }
}

void barrier::wait_around(std::uint64_t epoch) {
  const std::size_t n = members_.size();
  SINEW_EXPECT(me_ < n && members_[me_] == engine_.rank());
  SINEW_EXPECT(n <= std::size_t{1} << rounds_);  // or not all would be heard of
  const job_rank home = members_.front();
  for (std::size_t k = 0; k < rounds_; ++k) {
    const std::size_t next = (me_ + (std::size_t{1} << k)) % n;
    engine_.word_at<std::uint64_t>({home, line(first_round + next * rounds_ + k)})
        .store(epoch, std::memory_order_seq_cst);
    engine_.alert(members_[next]);
    engine_.wait_for(engine_.word_at<std::uint64_t>({home, line(first_round + me_ * rounds_ + k)}),
                     until::at_least, epoch);
  }
}

void barrier::wait_at_counter(std::uint64_t epoch) {
  const job_rank home = members_.front();
  const auto released = engine_.word_at<std::uint64_t>({home, line(release)});
  const auto count = engine_.word_at<std::uint64_t>({home, line(come)});
  // Nobody comes for the next barrier before this one is over, so the count needs no reset.
  const std::uint64_t come_now = count.fetch_add(1, std::memory_order_seq_cst) + 1;
  SINEW_ASSERT(come_now > (epoch - 1) * members_.size() && come_now <= epoch * members_.size());
  if (come_now != epoch * members_.size()) {
    engine_.wait_for(released, until::at_least, epoch);
    return;
  }
  released.store(epoch, std::memory_order_seq_cst);
  for (const job_rank r : members_) {
    if (r != engine_.rank()) {
      engine_.alert(r);
    }
  }
}

// --- what the engine does for them ---

void engine::mail(job_rank r, std::uint64_t value) {
  const std::uint64_t line = pair_offset(shape_, rank_);
  const place word{r, line + offsetof(pair_line, mail)};
  if (maps(r)) {
    word_at<std::uint64_t>(word).store(value, std::memory_order_relaxed);
  } else {
    announce(word, value);
  }
  tell_pair({r, line + offsetof(pair_line, mails)});
}

std::uint64_t engine::read_mail(job_rank r) {
  const std::uint64_t line = pair_offset(shape_, r);
  const std::uint64_t number = ++mails_[r.index()];
  (void)wait(line + offsetof(pair_line, mails), until::at_least, number);
  return load<std::uint64_t>({rank_, line + offsetof(pair_line, mail)});
}

void engine::release_once(std::uint64_t block, std::uint64_t counter, std::uint64_t count) {
  SINEW_EXPECT(block != 0 && counter >= block);
  {
    const base::guard held(dying_lock_, runtime_.threaded());
    dying_.push_back({block, counter, count});
  }
  release_those_due();
}

void engine::release_those_due() {
  const base::guard held(dying_lock_, runtime_.threaded());
  std::erase_if(dying_, [this](const dying_block& d) {
    const auto now = load<std::uint64_t>({rank_, d.counter});
    SINEW_ASSERT(now <= d.count);
    if (now != d.count) {
      return false;
    }
    heap_.release(d.offset);
    return true;
  });
}

}  // namespace sinew::rma
