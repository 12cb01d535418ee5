// How the members of a new communicator agree on its context.
//
// Each rank keeps the lowest context it has never used. The members take the maximum, so the
// result is new to all of them, and each then counts on from there.
//
// Several threads of a rank may create communicators at once, with groups that overlap. Then two
// agreements must not read the same number, so an agreement must own the counter on all members
// while it takes the maximum. Owning is tried, never waited for: a member that cannot own its
// counter says so in the same reduction, and all try again. The members meet in a barrier first, so
// nobody owns a counter while waiting for a member that comes later (perhaps after another
// agreement with us). Hence no deadlock: every round ends. And no endless retrying: a counter is
// given only to the lowest key (parent's context, tag) among the agreements this rank takes part
// in at the time. The agreement with the lowest key of all can be refused only by rounds that
// owned a counter before it came, and each of those ends; so it succeeds, and the next is lowest.
// Keys of overlapping agreements differ: MPI lets only one thread at a time create from one
// communicator, but for create_group, where the tags must differ.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

namespace sinew::coll {

/// One per rank. Any thread; cold.
class context_ledger {
 public:
  using key = std::pair<std::uint32_t, int>;  ///< parent's context, tag (-1 without)

  /// From here to leave() this rank takes part in an agreement. All its members have come to it.
  void enter(const key& k) {
    const std::lock_guard hold(lock_);
    present_.insert(k);
  }
  void leave(const key& k) {
    const std::lock_guard hold(lock_);
    present_.erase(present_.find(k));
  }

  /// What this rank says in a round: the larger word wins, so one refusal refuses for all.
  [[nodiscard]] std::uint64_t propose(const key& k) {
    const std::lock_guard hold(lock_);
    if (owned_ || *present_.begin() != k) return refused;
    owned_ = true;
    return next_;
  }

  /// After the round: `said` is what propose() gave, `agreed` the maximum of all.
  /// False: another round.
  [[nodiscard]] bool settle(std::uint64_t said, std::uint64_t agreed) {
    const std::lock_guard hold(lock_);
    if (said != refused) owned_ = false;
    if (agreed == refused) return false;
    next_ = static_cast<std::uint32_t>(agreed) + 2;
    return true;
  }

  static constexpr std::uint32_t world = 0, self = 2, first_free = 4;

 private:
  static constexpr std::uint64_t refused = std::uint64_t{1} << 32;

  std::mutex lock_;
  std::multiset<key> present_;
  bool owned_ = false;
  std::uint32_t next_ = first_free;
};

}  // namespace sinew::coll
