// SPDX-License-Identifier: BSD-3-Clause
// Memory that `sinew run --survive` shares with its ranks: who has died, and agreements that hold
// whoever dies meanwhile. Over several hosts each host has such memory. The launcher puts deaths
// and votes into one order, in which the daemons write them down: so all ranks decide alike.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "sinew/base/ids.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::boot {

/// What the members of an agreement have decided.
struct decision {
  std::uint32_t flag = 0;    ///< the conjunction of what those have voted that were alive, of those
                             ///< that this rank hears
  std::uint32_t deaths = 0;  ///< how many of dead() it took note of
};

/// One agreement among several: every member uses the same numbers, and counts its `turn` up from 1
/// for each further one with the same slot and key.
struct ballot {
  std::uint32_t slot = 0;  ///< below survival::slots
  std::uint16_t key = 0;   ///< tells groups apart that use a slot one after the other
  std::uint16_t turn = 0;
};

/// A rank has voted, or left a ballot.
struct cast_vote {
  boot::ballot ballot;
  std::uint32_t flag = 0;
  std::uint32_t deaths = 0;  ///< before it, as the launcher counts
  bool left = false;
};

/// A vote without that number in two words, for networks that bring such.
struct vote_words {
  std::uint64_t ballot;
  std::uint64_t said;
};
[[nodiscard]] vote_words packed(const cast_vote& vote) noexcept;
[[nodiscard]] cast_vote unpacked(const vote_words& words) noexcept;

/// Takes a vote of this rank to the launcher, or with `left` that it has left the ballot. Throws
/// nothing.
using vote_teller = std::function<void(const ballot&, std::uint32_t flag, bool left)>;

/// Any thread. Warm.
class survival {
 public:
  static constexpr std::uint32_t slots = 1024;

  /// Maps the descriptor, which is empty at first. `tell`: of a rank of a job over several hosts,
  /// whose votes come back by note(). Throws.
  survival(int descriptor, int ranks, vote_teller tell = {});
  /// Votes of this rank go another way. Before the first vote.
  void tell_by(vote_teller tell) { tell_ = std::move(tell); }

  /// The launcher's alone, or the daemon's of a host, as is note().
  void mark_dead(job_rank rank) noexcept;
  /// A vote that was told.
  void note(job_rank rank, const cast_vote& vote) noexcept;

  /// How many ranks have died, and which was number `i` of them.
  [[nodiscard]] std::uint32_t deaths() const noexcept;
  [[nodiscard]] job_rank dead(std::uint32_t i) const noexcept;
  [[nodiscard]] bool is_dead(job_rank rank, std::uint32_t among_first) const noexcept;

  /// Once for each ballot; then decided() until it is true. Nobody votes before the last ballot
  /// but one of the same slot and key is known to all that live, since each waits for each.
  void vote(const ballot& b, job_rank rank, std::uint32_t flag) noexcept;
  /// `heard`: those of the members whose flags are wanted.
  [[nodiscard]] bool decided(const ballot& b, std::span<const job_rank> members,
                             std::span<const job_rank> heard, decision& result) noexcept;
  /// After decided() was true: this rank will not ask again.
  void leave(const ballot& b, job_rank rank) noexcept;
  /// For reports: whether the rank has voted; and the ballot that it has voted in last and that is
  /// not decided, so that it waits there; turn 0: none. Cold.
  [[nodiscard]] bool has_voted(const ballot& b, job_rank rank) const noexcept;
  [[nodiscard]] ballot undecided_of(job_rank rank) const noexcept;
  /// Whether all members that live have left it, so that the slot may have another key.
  [[nodiscard]] bool is_over(const ballot& b, std::span<const job_rank> members) const noexcept;

 private:
  void note_left(const ballot& b, job_rank rank) noexcept;
  using word = std::atomic<std::uint64_t>;
  static_assert(word::is_always_lock_free);  // shared between processes

  [[nodiscard]] static std::size_t bytes_for(int ranks) noexcept;
  [[nodiscard]] word& count() const noexcept { return words_[0]; }
  [[nodiscard]] word& dead_at(std::uint32_t i) const noexcept { return words_[1 + i]; }
  [[nodiscard]] word& decision_of(const ballot& b) const noexcept;
  [[nodiscard]] word& vote_of(const ballot& b, job_rank rank) const noexcept;
  [[nodiscard]] word& deaths_at_vote(const ballot& b, job_rank rank) const noexcept;
  [[nodiscard]] std::uint32_t deaths_at_last_vote(const ballot& b,
                                                  std::span<const job_rank> members) const noexcept;

  memory_mapping memory_;
  int ranks_;
  vote_teller tell_;
  word* words_;
};

}  // namespace sinew::boot
