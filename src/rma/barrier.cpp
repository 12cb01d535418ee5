// Two algorithms. With a processor for each rank: dissemination (Hensgen, Finkel and Manber 1988).
// In round k each member notifies the one 2^k further on, and waits for the one 2^k before; after
// ceil(log2 n) rounds it has been notified, directly or not, by all. Each word is written by one
// member and read by one, and holds the number of the barrier, so nothing is ever reset. With more
// ranks than processors each round would be a change of process; there all count on one word and
// the last one releases all through another (the central counter of Mellor-Crummey and Scott 1991).
//
// Lines: 0 how many have come, 1 the release, 2 how many have left for ever, then each member's
// rounds.
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

barrier::barrier(engine& e, all_ranks, std::uint64_t offset)
    : engine_(e),
      me_(e.rank().index()),
      rounds_(barrier_rounds(e.size())),
      offset_(offset),
      owned_(false) {
  for (job_rank r = 0; r.below(e.size()); ++r) {
    members_.push_back(r);
  }
  SINEW_ENSURE(offset_ != 0 && members_.size() == static_cast<std::size_t>(e.size()));
}

barrier::barrier(engine& e, std::span<const job_rank> members)
    : engine_(e),
      members_(members.begin(), members.end()),
      rounds_(barrier_rounds(static_cast<int>(members.size()))) {
  const auto found = std::find(members_.begin(), members_.end(), e.rank());
  SINEW_CHECK(found != members_.end(), "a barrier cannot be made",
              "rank " + to_string(e.rank()) + " is not one of its members", "");
  me_ = static_cast<std::size_t>(found - members_.begin());
  const job_rank first = members_.front();
  if (me_ == 0) {
    e.release_those_due();
    const std::size_t bytes = barrier_bytes(static_cast<int>(members_.size()));
    offset_ = e.memory().try_allocate(part::local, bytes);
    if (offset_ != 0) {
      std::memset(e.at({first, offset_}), 0, bytes);
    }
    for (std::size_t m = 1; m < members_.size(); ++m) {
      e.mail(members_[m], offset_ != 0 ? offset_ : no_memory);
    }
  } else {
    offset_ = e.read_mail(first);
  }
  if (offset_ == 0 || offset_ == no_memory) {
    refuse();
  }
  SINEW_ASSERT(offset_ % line_bytes == 0);
  wait();  // so that no mail is overwritten before it was read
}

/// The first member has no memory. It must know that all have read so before it goes on.
void barrier::refuse() {
  const job_rank first = members_.front();
  if (me_ != 0) {
    engine_.signal(first);
  }
  for (std::size_t m = 1; m < members_.size() && me_ == 0; ++m) {
    engine_.await(members_[m]);
  }
  throw error("no memory for a barrier of " + std::to_string(members_.size()) + " ranks",
              "the local heap of rank " + to_string(first) + " is full",
              "Set SINEW_RMA_LOCAL_HEAP to more.");
}

barrier::~barrier() {
  if (!owned_) {
    return;
  }
  const place leavers{members_.front(), line(gone)};
  (void)engine_.fetch_add<std::uint64_t>(leavers, 1);
  if (me_ == 0) {
    engine_.release_once(offset_, line(gone), members_.size());
  }
}

void barrier::wait() {
  const std::uint64_t epoch = ++epoch_;
  if (engine_.runtime().crowded()) {
    wait_at_counter(epoch);
  } else {
    wait_around(epoch);
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
  word_at<std::uint64_t>({r, line + offsetof(pair_line, mail)})
      .store(value, std::memory_order_relaxed);
  (void)fetch_add<std::uint64_t>({r, line + offsetof(pair_line, mails)}, 1);
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
    const core::guard held(dying_lock_, runtime_.threaded());
    dying_.push_back({block, counter, count});
  }
  release_those_due();
}

void engine::release_those_due() {
  const core::guard held(dying_lock_, runtime_.threaded());
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
