// SPDX-License-Identifier: BSD-3-Clause
// How a reservation moves between ranks: a state machine without threads, clocks or a network, so
// that a test can deliver its messages in any order.
//
// The token of a reservation is on one rank or on its way to one; only there is anything granted.
// Each rank keeps `last`, the probable end of the queue of ranks, and `next`, the rank behind
// itself (Naimi, Trehel, "An Improvement of the log n Distributed Algorithm for Mutual Exclusion",
// 1987):
//  want   a rank that needs the token sends a request to `last` and makes itself `last`. A rank
//  that
//         receives a request and is not the end forwards it to `last`; the end makes the requester
//         its `next`. Either way the requester becomes `last`. So paths shorten, and each rank has
//         at most one request under way and one `next`.
//  token  goes to `next` when nobody waits here, or after local_grants grants since `next` came.
// Invariant (in_queue_order): last == self if and only if next is none and this rank has the token
// or has requested it.
//
// Shared holders stay behind when the token moves on: `left`, which travels with the token, counts
// such ranks, and a rank whose last holder is gone sends `gone` to the creator. Nothing but that
// mode is granted until the creator has received `gone` from all that `left` counts: the rank with
// the token asks it (drain) and is answered once. All counters only grow, and wrap.
//
// What happens when a rank is lost: see lock_recovery.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/event/reservation.hpp"

namespace sinew::event {

/// A request for a reservation on this rank. The link is the queue's until it is granted, then that
/// of the list of granted ones.
struct lock_request {
  lock_request* pool_link = nullptr;
  std::uint32_t mode = 0;
  bool exclusive = true;
  bool destroys = false;  ///< the holder ends the reservation
  bool refused = false;   ///< out: there is no such reservation any more
  bool suspect = false;   ///< out: a lost rank may have left half done what it guards
};

/// What one rank sends another about one reservation.
struct lock_item {
  enum kind : std::uint16_t { want, token, gone, drain, drained, refuse, lost, census, counted };
  std::uint64_t what;
  std::uint16_t of;
  std::uint16_t rank;      ///< want, drain: that requests; token: 1 if suspect; lost: which
  std::uint32_t left;      ///< token, census, drain, drained; counted: how many ranks are lost
  std::uint32_t drained_;  ///< token; census: flags, and how many ranks are lost
  std::uint32_t mode;      ///< token, census: of holders that stayed behind
};
static_assert(sizeof(lock_item) == 24, "an array of them is a message");

class lock_core {
 public:
  struct alignas(64) cell {
    lock_request* head = nullptr;
    lock_request* tail = nullptr;
    std::uint32_t generation = 0;  ///< 0: not used yet
    std::uint32_t mode = 0;        ///< of the holders here, or of those that stayed behind
    std::uint32_t holders = 0;
    std::uint32_t left = 0;     ///< with the lock: ranks that it left with holders
    std::uint32_t drained = 0;  ///< with the lock: how many of those are known to have none
    std::uint32_t gone = 0;     ///< at the creator: how many of those have none
    std::uint32_t target = 0;   ///< at the creator: `asker` waits for so many
    job_rank asker = -1;
    job_rank next = -1;
    std::uint16_t last = 0;
    std::uint16_t budget = 0;  ///< grants before the lock must move to `next`
    bool here = false;
    bool wanted = false;   ///< our request is under way
    bool alone = false;    ///< the holder is exclusive
    bool owes = false;     ///< `gone`: the lock has moved on, holders have stayed
    bool asking = false;   ///< a drain is under way
    bool kept = false;     ///< while a loss is being settled: the token is here, but frozen
    bool suspect = false;  ///< with the token: lock_request::suspect of each grant
    bool live = false;     ///< at the creator: made and not destroyed
  };

  static_assert(sizeof(cell) == 64, "reservation.hpp promises 64 bytes");

  lock_core(job_rank rank, int size, std::uint32_t local_grants);

  [[nodiscard]] reservation create();
  /// Null if `r` is not, or no longer, a reservation as far as this rank knows.
  [[nodiscard]] cell* find(reservation r) {
    const auto creator = r.creator().index();
    const std::size_t chunk = r.index() / chunk_cells;
    if (creator < tables_.size() && chunk < tables_[creator].size()) [[likely]] {
      cell* const first = tables_[creator][chunk].get();
      if (first != nullptr && r.generation() != 0 &&
          first[r.index() % chunk_cells].generation == r.generation()) [[likely]] {
        return &first[r.index() % chunk_cells];
      }
    }
    return find_new(r);
  }

  /// Grants at once if neither holders nor waiting requests prevent it.
  [[nodiscard]] bool try_enter(cell& c, lock_mode how) noexcept {
    if (c.here && c.head == nullptr && c.next < 0 && free_for(c, how.mode, how.exclusive) &&
        !c.suspect) {
      take(c, how.mode, how.exclusive);
      return true;
    }
    return false;
  }
  void enter(reservation r, cell& c, lock_request& q);
  /// Instead of enter(): there is no such reservation.
  void refuse(lock_request& q) noexcept {
    q.refused = true;
    grant(q);
  }
  /// False if it is not held here.
  [[nodiscard]] bool release(reservation r, cell& c);
  void receive(job_rank from, const lock_item& m);

  /// `rank` is lost; all others are notified. Again, or of this rank: nothing. Cold.
  void lose(job_rank rank);
  [[nodiscard]] bool is_lost(job_rank rank) const noexcept {
    SINEW_EXPECT(rank.index() < lost_.size());
    return lost_[rank.index()] != 0;
  }
  /// What it guards is whole again. False if it is not held here, alone and with the lock.
  [[nodiscard]] static bool recover(cell& c) noexcept;
  /// Reservations of this rank that have become suspect since the last call.
  [[nodiscard]] std::vector<reservation> take_suspects() { return std::exchange(suspects_, {}); }

  /// Requests that were granted (or refused) since the last call, oldest first.
  [[nodiscard]] lock_request* take_granted() noexcept {
    lock_request* const first = granted_;
    granted_ = nullptr;
    granted_end_ = &granted_;
    return first;
  }
  /// Ranks to which something must be sent, and what; the caller clears both.
  [[nodiscard]] std::vector<job_rank>& addressees() noexcept { return addressees_; }
  [[nodiscard]] std::vector<lock_item>& outgoing(job_rank rank) noexcept {
    SINEW_EXPECT(rank.index() < outgoing_.size());
    return outgoing_[rank.index()];
  }

  [[nodiscard]] std::uint64_t moved() const noexcept { return moved_; }
  /// Calls visit(reservation, cell) for each reservation used here. Cold.
  template <class Visit>
  void each(Visit visit) {
    for (std::size_t creator = 0; creator < tables_.size(); ++creator) {
      for (std::size_t i = 0; i < tables_[creator].size() * chunk_cells; ++i) {
        auto& chunk = tables_[creator][i / chunk_cells];
        if (chunk != nullptr && chunk[i % chunk_cells].generation != 0) {
          cell& c = chunk[i % chunk_cells];
          visit(reservation(job_rank{static_cast<int>(creator)}, static_cast<std::uint32_t>(i),
                            c.generation),
                c);
        }
      }
    }
  }

 private:
  static constexpr std::size_t chunk_cells = 64;
  using table = std::vector<std::unique_ptr<cell[]>>;

  [[nodiscard]] static bool free_for(const cell& c, std::uint32_t mode, bool exclusive) noexcept {
    if (c.holders == 0 && c.left == c.drained) {
      return true;
    }
    return !exclusive && !c.alone && c.mode == mode;
  }
  static void take(cell& c, std::uint32_t mode, bool exclusive) noexcept {
    SINEW_EXPECT(c.here && free_for(c, mode, exclusive));
    ++c.holders;
    c.mode = mode;
    c.alone = exclusive;
    SINEW_ENSURE(!c.alone || c.holders == 1);
  }

  /// See above; not while a loss is being settled, nor of a reservation that was destroyed.
  [[nodiscard]] bool in_queue_order(reservation r, const cell& c) const noexcept {
    const bool destroyed = r.creator() == rank_ && !c.live;
    return losses_ != 0 || destroyed ||
           (job_rank{c.last} == rank_) == ((c.here || c.wanted) && c.next < 0);
  }
  [[nodiscard]] cell* find_new(reservation r);
  cell& reach(job_rank creator, std::uint32_t index);
  cell* renew(reservation r, cell& c);
  void settle(reservation r, cell& c);
  void pass_on(reservation r, cell& c);
  void ask_to_drain(reservation r, cell& c);
  void notify_gone(reservation r);
  void end(reservation r, cell& c);
  void refuse_all(reservation r, cell& c);
  void grant(lock_request& q) noexcept;
  void post(job_rank rank, const lock_item& m);

  void on_want(reservation r, const lock_item& m);
  void on_token(reservation r, cell& c, const lock_item& m);
  static void absorb(cell& c, const lock_item& m) noexcept;
  void on_gone(reservation r, cell& c);
  void on_drain(reservation r, cell& c, const lock_item& m);
  void on_drained(reservation r, cell& c, const lock_item& m);

  // lock_recovery.cpp
  [[nodiscard]] bool admits(job_rank from, const lock_item& m);
  void settle_loss(job_rank from, const lock_item& m);
  void on_census(const lock_item& m);
  void notify_all(const lock_item& m);
  void take_early();
  template <class Heard>
  [[nodiscard]] bool all_alive(Heard heard) const;
  void proceed();
  void freeze(cell& c) noexcept;
  void abandon(reservation r, cell& c);
  void hand_in();
  void hand_in(reservation r, cell& c);
  void rebuild();
  void rebuild(reservation r, cell& c);

  job_rank rank_;
  std::uint16_t budget_;
  std::vector<table> tables_;  ///< by creator
  std::uint32_t created_ = 0;
  std::vector<std::uint32_t> unused_;
  lock_request* granted_ = nullptr;
  lock_request** granted_end_ = &granted_;
  std::vector<std::vector<lock_item>> outgoing_;  ///< by rank
  std::vector<job_rank> addressees_;
  std::uint64_t moved_ = 0;

  enum class stage : std::uint8_t { none, silence, counting };
  stage stage_ = stage::none;
  std::uint32_t losses_ = 0;            ///< how many ranks are lost
  std::vector<char> lost_;              ///< by rank
  std::vector<std::uint32_t> heard_;    ///< by rank: how many `lost` it has sent
  std::vector<std::uint32_t> counted_;  ///< by rank: with how many losses it has handed in last
  std::vector<lock_item> early_;        ///< of ranks that have handed in, before all others have
  std::vector<reservation> suspects_;
};

}  // namespace sinew::event
