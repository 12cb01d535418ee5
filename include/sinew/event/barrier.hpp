// SPDX-License-Identifier: BSD-3-Clause
// Barriers: phases that complete when enough arrivals have come, and bring a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sinew/base/ids.hpp"
#include "sinew/event/event.hpp"

namespace sinew::event {

class system;

/// One phase of a barrier: a value, valid on every rank. `stamp` says which alteration it has seen.
struct barrier {
  std::uint64_t id = 0;     ///< owner (16 bits), bytes of a value (8), number (40)
  std::uint64_t phase = 0;  ///< from 0, without a limit
  std::uint64_t stamp = 0;

  [[nodiscard]] barrier next() const noexcept { return {id, phase + 1, stamp}; }
  [[nodiscard]] job_rank owner() const noexcept { return job_rank{static_cast<int>(id >> 48)}; }
};

/// How the values of arrivals become one.
struct reduction {
  std::size_t bytes = 0;                                  ///< of a value, at most 64; 0: no values
  void (*fold)(void* into, const void* value) = nullptr;  ///< both aligned for any type
  const void* identity = nullptr;                         ///< copied
};

inline constexpr std::size_t most_reduced_bytes = 64;
inline constexpr std::size_t kept_phases = 16;

/// A rank's barriers; system::all_barriers(). Calls as those of system: none waits but value(). A
/// handle that
/// stands for no barrier, or for none any more, is an error (sinew::error) where that is known: at
/// its owner. From other ranks completed() gives a poisoned event, and what else is asked of it is
/// reported by the owner on stderr and ignored.
class barriers {
 public:
  explicit barriers(system& s);
  ~barriers();
  barriers(const barriers&) = delete;
  barriers& operator=(const barriers&) = delete;

  /// Owned by this rank; each phase takes `arrivals`. Without a message. Cold.
  [[nodiscard]] barrier create(std::uint64_t arrivals, const reduction& values = {});
  /// At the owner, when nobody uses it any more; phases still awaited are poisoned. Cold.
  void destroy(barrier b);

  /// Counts `count` arrivals at b's phase, with a value if the barrier has them; when `after` has
  /// triggered (a poisoned one poisons the phase). Phases may be arrived at ahead. Warm.
  void arrive(barrier b, std::uint64_t count = 1, const void* value = nullptr, event after = {});
  /// Phases from b's on take `change` arrivals more (or fewer). An arrival with the barrier that is
  /// returned counts only after the owner has seen the change, whoever makes it. Warm.
  [[nodiscard]] barrier alter(barrier b, std::int64_t change);
  /// Triggers when b's phase has completed. Its first call for a phase here asks the owner:
  /// before the last arrival, if the owner may leave once it has seen the end. Warm.
  [[nodiscard]] event completed(barrier b);
  /// The value of a phase that has completed, among the last kept_phases; false if there is none or
  /// it has not completed. What this rank has not asked for (see completed()) it asks the owner
  /// for, and waits for the answer: as in a task that another rank's event has started. Where
  /// waiting is not allowed, in what an event has just started, that is false too. Not in handlers
  /// of messages. Warm.
  [[nodiscard]] bool value(barrier b, void* into);

  /// For system::lost(): phases of that rank's barriers that are awaited here are poisoned.
  /// Arrivals have no names, so a barrier of ours is broken, all phases from its current one on
  /// poisoned and arrivals ignored, if that rank has arrived at it, altered it or asked for a
  /// phase; or if no phase has completed, for then it may still have been to come. Make another.
  void lost(job_rank rank);

 private:
  struct body;
  std::unique_ptr<body> body_;
};

}  // namespace sinew::event
