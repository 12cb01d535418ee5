// SPDX-License-Identifier: BSD-3-Clause
// Reservations: locks whose grant is an event, so that acquiring one does not wait (Realm has them:
// Treichler, Bauer, Aiken, PACT 2014). They move between ranks as in Naimi and Trehel 1987.
//
// Promises (tests/event/reservation_test.cpp holds the module to each)
//  balance    each acquire is matched by one release on the same rank, whatever has failed: an
//             acquire whose precondition is poisoned takes the lock in its turn, and what is
//             poisoned is its event; a release with a poisoned precondition releases.
//  order      on one rank requests are granted in the order in which they came to wait. Nobody
//             overtakes; shared ones of one mode that stand together are granted together.
//  fairness   while another rank waits, this one is granted local_grants more, then the lock moves
//             on; ranks get it in the order in which their requests reached the end of the queue.
//  loss       system::lost() is enough. A reservation ends with the rank that made it: requests
//             that wait and later ones are refused (a poisoned event, nothing is held, releases are
//             ignored). Others come back from a lost rank, to the rank that made them. If the lost
//             one may have held it, what it guards may be half written: from then on each grant's
//             event is poisoned (and held, and to be released, as always) until a holder has
//             checked it and calls recover(). A holder keeps it while another rank is lost.
//  sharing    holders of one shared mode hold at the same time, on whichever ranks.
//  messages   none while one rank uses a reservation. Moving it takes the request, forwarded
//             O(log ranks) times on average, and the lock; requests and locks to one rank that
//             arise together travel in one message.
//  storage    64 bytes on each rank that has used a reservation, 64 for each request that waits.
#pragma once

#include <compare>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/event/event.hpp"
#include "sinew/event/waiter.hpp"

namespace sinew::event {

class system;
class reservations;

/// A value, valid on every rank: who made it, its number there, and which use of that number. After
/// 2^20 destroyed ones a number's handles repeat.
class reservation {
 public:
  static constexpr int generation_bits = 20;
  static constexpr int index_bits = 28;

  constexpr reservation() noexcept = default;
  constexpr reservation(job_rank creator, std::uint32_t index, std::uint32_t generation) noexcept
      : bits_(creator.index() << (index_bits + generation_bits) |
              static_cast<std::uint64_t>(index) << generation_bits | generation) {
    SINEW_EXPECT(creator.below(1 << (64 - index_bits - generation_bits)));
    SINEW_EXPECT(index < 1u << index_bits && generation < 1u << generation_bits);
  }
  [[nodiscard]] static constexpr reservation from_bits(std::uint64_t bits) noexcept {
    reservation r;
    r.bits_ = bits;
    return r;
  }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr bool exists() const noexcept { return bits_ != 0; }
  [[nodiscard]] constexpr job_rank creator() const noexcept {
    return job_rank{static_cast<int>(bits_ >> (index_bits + generation_bits))};
  }
  [[nodiscard]] constexpr std::uint32_t index() const noexcept {
    return static_cast<std::uint32_t>(bits_ >> generation_bits) & ((1u << index_bits) - 1);
  }
  [[nodiscard]] constexpr std::uint32_t generation() const noexcept {
    return static_cast<std::uint32_t>(bits_) & ((1u << generation_bits) - 1);
  }
  friend constexpr auto operator<=>(reservation, reservation) noexcept = default;

 private:
  std::uint64_t bits_ = 0;
};

/// Alone, or with others of the same mode.
struct lock_mode {
  std::uint32_t mode = 0;
  bool exclusive = true;
};
[[nodiscard]] constexpr lock_mode shared(std::uint32_t mode = 0) noexcept { return {mode, false}; }

struct reservation_options {
  std::uint32_t local_grants = 0;  ///< 0: SINEW_EVENT_LOCAL_GRANTS
};

/// Releases at the end of its scope. Poisoned: its acquire's precondition was, or the reservation
/// is gone, or a rank was lost that may have held it (see recover()).
class hold {
 public:
  hold() noexcept = default;
  hold(reservations& of, reservation what, bool poisoned) noexcept
      : of_(&of), what_(what), poisoned_(poisoned) {}
  hold(hold&& from) noexcept
      : of_(std::exchange(from.of_, nullptr)), what_(from.what_), poisoned_(from.poisoned_) {}
  hold& operator=(hold&& from) noexcept {
    if (this != &from) {
      release();
      of_ = std::exchange(from.of_, nullptr);
      what_ = from.what_;
      poisoned_ = from.poisoned_;
    }
    return *this;
  }
  ~hold() { release(); }
  /// Now, or when `after` has triggered. Again: nothing.
  void release(event after = {}) noexcept;
  [[nodiscard]] bool poisoned() const noexcept { return poisoned_; }

 private:
  reservations* of_ = nullptr;
  reservation what_;
  bool poisoned_ = false;
};

/// What `co_await all.scoped(r)` waits with; it allocates one request if the lock is not free.
class scoped_acquire final : public waiter {
 public:
  scoped_acquire(reservations& of, reservation what, lock_mode how) noexcept
      : of_(of), what_(what), how_(how) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> frame);
  [[nodiscard]] hold await_resume() const noexcept { return {of_, what_, failed_}; }

 private:
  reservations& of_;
  reservation what_;
  lock_mode how_;
  bool failed_ = false;
  std::coroutine_handle<> frame_;
};

/// A rank's side of all reservations. One per system, made by every rank before any rank uses one:
/// let them meet in between (a message that finds none ends the job and says so). No call waits but
/// lock(). Any thread if the runtime is threaded; from waiters and handlers too.
/// Misuse that is seen in the call throws sinew::error and changes nothing; misuse by a deferred
/// release is logged when it happens, counted, and ignored.
class reservations {
 public:
  explicit reservations(system& s, const reservation_options& how = {});
  ~reservations();
  reservations(const reservations&) = delete;
  reservations& operator=(const reservations&) = delete;

  /// Without a message. Warm.
  [[nodiscard]] reservation create();
  /// When its holders have released it and those before have had it. Later requests fail: their
  /// events are poisoned and they hold nothing. Any rank; the event says when it is gone. Warm.
  event destroy(reservation r, event after = {});

  /// Asks for `r` when `after` has triggered. The event triggers when it is held; it is none if
  /// that is so at once. Hot.
  [[nodiscard]] event acquire(reservation r, lock_mode how = {}, event after = {});
  /// Gives back one hold of this rank when `after` has triggered or was poisoned. Hot.
  void release(reservation r, event after = {});
  /// True if it is held now; only where the lock is free and on this rank, but asks for it: `again`
  /// (if not null) triggers when trying again is worth it. Hot.
  [[nodiscard]] bool try_acquire(reservation r, lock_mode how = {}, event* again = nullptr);

  /// Suspends a fiber, parks a thread. Not from waiters and handlers.
  [[nodiscard]] hold lock(reservation r, lock_mode how = {});
  /// What `r` guards is whole again after a holder was lost (see above): grants are no longer
  /// poisoned, but for those that were made already. Called by the holder, which is exclusive.
  /// Warm.
  void recover(reservation r);
  /// For coroutines: `hold mine = co_await all.scoped(r);`
  [[nodiscard]] scoped_acquire scoped(reservation r, lock_mode how = {}) noexcept {
    return {*this, r, how};
  }

  /// Of this rank, for tests and reports. Warm.
  [[nodiscard]] std::size_t held(reservation r) const;
  [[nodiscard]] std::size_t waiting(reservation r) const;
  [[nodiscard]] std::uint64_t misuses() const noexcept;
  /// Locks that left this rank, and messages it sent for reservations.
  [[nodiscard]] std::uint64_t moved() const noexcept;
  [[nodiscard]] std::uint64_t messages() const noexcept;

  [[nodiscard]] system& events() const noexcept { return system_; }

 private:
  struct body;
  struct request;
  class request_pool;
  system& system_;
  std::unique_ptr<body> body_;
};

}  // namespace sinew::event

template <>
struct std::hash<sinew::event::reservation> {
  std::size_t operator()(sinew::event::reservation r) const noexcept {
    return static_cast<std::size_t>(r.bits() * 0x9e3779b97f4a7c15ULL >> 7);
  }
};
