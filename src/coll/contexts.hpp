// SPDX-License-Identifier: BSD-3-Clause
// How the members of a new communicator agree on its context.
//
// Each rank knows which contexts it holds. The members name their lowest free one; if that is the
// same for all, it is the context, else they go on from the highest that was named; after some
// rounds from above all that anybody holds, where communicators of different members have left no
// free number in common for long. Who will be no member of it names none. A context is free again
// when this rank's communicator is gone: a message of its past would have to be one that
// the program never received.
//
// Several threads of a rank may create communicators at once, with groups that overlap. Then two
// agreements must not name the same number, so an agreement must own the ledger on all members
// during a round. Owning is tried, never waited for: a member that cannot own its ledger says so in
// the same reduction, and all try again. The members meet in a barrier first, so
// nobody owns a ledger while waiting for a member that comes later (perhaps after another
// agreement with us). Hence no deadlock: every round ends. And no endless retrying: a ledger is
// given only to the lowest key (parent's context, tag) among the agreements this rank takes part
// in at the time. The agreement with the lowest key of all can be refused only by rounds that
// owned a ledger before it came, and each of those ends; so it succeeds, and the next is lowest.
// Keys of overlapping agreements differ: MPI lets only one thread at a time create from one
// communicator, but for create_group, where the tags must differ, and for nonblocking ones, which
// have a tag of their own and follow each other (agreement.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::coll {

/// One per rank. Any thread; cold.
class context_ledger {
 public:
  using key = std::pair<std::uint32_t, int>;  ///< parent's context, tag (negative: not the user's)

  /// From here to leave() this rank takes part in an agreement. All its members have come to it.
  void enter(const key& k) {
    const std::lock_guard hold(lock_);
    present_.insert(k);
  }
  void leave(const key& k) noexcept {
    const std::lock_guard hold(lock_);
    const auto mine = present_.find(k);
    SINEW_EXPECT(mine != present_.end());
    present_.erase(mine);
  }

  /// What this rank says in a round, of which there were `rounds`: its lowest free context that is
  /// not below `from`, or a word larger than all, so that one refusal refuses for all.
  [[nodiscard]] std::uint64_t propose(const key& k, std::uint32_t from, int rounds) {
    const std::lock_guard hold(lock_);
    SINEW_EXPECT(present_.contains(k) && from >= first_free && from % 2 == 0);
    if (owned_ || *present_.begin() != k) {
      return refused;
    }
    owned_ = true;
    return lowest_free(rounds < most_rounds_in_gaps ? from : std::max(from, above_all()));
  }

  /// Whether propose() would not be refused now.
  [[nodiscard]] bool open_to(const key& k) {
    const std::lock_guard hold(lock_);
    return !owned_ && *present_.begin() == k;
  }

  /// Instead of settle(): the round could not be ended.
  void abandon(std::uint64_t said) noexcept {
    const std::lock_guard hold(lock_);
    SINEW_EXPECT(said == refused || owned_);
    if (said != refused) {
      owned_ = false;
    }
  }

  /// After the round: `said` is what propose() gave, then the extremes of what all have said.
  /// True: that context is now held here. Else another round, with a `from` that may be higher.
  [[nodiscard]] bool settle(std::uint64_t said, std::uint64_t lowest, std::uint64_t highest,
                            std::uint32_t& from) {
    const std::lock_guard hold(lock_);
    SINEW_EXPECT(lowest <= said && said <= highest && highest <= refused);
    if (said != refused) {
      owned_ = false;
    }
    if (highest == refused) {
      return false;
    }
    from = static_cast<std::uint32_t>(highest);
    if (lowest != highest) {
      return false;
    }
    const std::size_t word = from / 2 / bits;
    if (word >= held_.size()) {
      held_.resize(word + 1);
    }
    SINEW_ASSERT((held_[word] & bit_of(from)) == 0);  // this rank has said that it is free
    held_[word] |= bit_of(from);
    return true;
  }

  /// This rank's communicator of that context is gone, or it was no member. Nothing for what was
  /// never agreed on.
  void release(std::uint32_t context) {
    const std::lock_guard hold(lock_);
    if (context < first_free) {
      return;
    }
    SINEW_EXPECT(context / 2 / bits < held_.size() &&
                 (held_[context / 2 / bits] & bit_of(context)) != 0);
    held_[context / 2 / bits] &= ~bit_of(context);
  }

  /// Outside of agreements by rounds: none may own the ledger meanwhile, else nothing is free.
  [[nodiscard]] std::uint32_t free_mask(std::uint32_t from) {
    const std::lock_guard hold(lock_);
    SINEW_EXPECT(from % 2 == 0);
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; !owned_ && i < 32; ++i) {
      mask |= lowest_free(from + 2 * i) == from + 2 * i ? 1U << i : 0;
    }
    return mask;
  }
  [[nodiscard]] bool take(std::uint32_t context) {
    const std::lock_guard hold(lock_);
    SINEW_EXPECT(context >= first_free && context % 2 == 0);
    if (owned_ || lowest_free(context) != context) {
      return false;
    }
    const std::size_t word = context / 2 / bits;
    held_.resize(std::max<std::size_t>(held_.size(), word + 1));
    held_[word] |= bit_of(context);
    return true;
  }

  static constexpr std::uint32_t world = 0, self = 2, job = 4, meeting = p2p::meeting_context,
                                 first_free = 8;
  static constexpr std::uint64_t refused = std::uint64_t{1} << 32;

 private:
  static constexpr std::uint32_t bits = 64;
  static constexpr int most_rounds_in_gaps = 8;

  /// Whatever is not below it is free here.
  [[nodiscard]] std::uint32_t above_all() const noexcept {
    std::size_t words = held_.size();
    while (held_[words - 1] == 0) {  // the first has the world's
      --words;
    }
    return static_cast<std::uint32_t>(
        2 * (words * bits - static_cast<std::size_t>(std::countl_zero(held_[words - 1]))));
  }
  static std::uint64_t bit_of(std::uint32_t context) noexcept {
    return std::uint64_t{1} << (context / 2 % bits);
  }
  [[nodiscard]] std::uint32_t lowest_free(std::uint32_t from) const noexcept {
    std::uint64_t below = bit_of(from) - 1;  // counts as held, in the first word only
    for (std::uint32_t word = from / 2 / bits;; ++word, below = 0) {
      const std::uint64_t held = below | (word < held_.size() ? held_[word] : 0);
      if (held != ~std::uint64_t{0}) {
        return 2 * (word * bits + static_cast<std::uint32_t>(std::countr_one(held)));
      }
    }
  }

  std::mutex lock_;
  std::multiset<key> present_;
  bool owned_ = false;
  std::vector<std::uint64_t> held_ = {0b1111};  ///< a bit a context, from `world`
};

}  // namespace sinew::coll
