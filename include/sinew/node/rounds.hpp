// SPDX-License-Identifier: BSD-3-Clause
// Where the words of a collective's rounds lie, and when they may be used again: the bookkeeping of
// each member, without any memory.
//
// A member writes in a round at most once into a place that all members know, and may read what the
// others have written there. Most rounds make nobody wait for everybody: the root of a broadcast
// writes and goes on. A place may be written again when nobody reads it any more, and that takes no
// acknowledgements: the places are two halves of `depth` places each (and one more), used by turns.
// A half is left when a member has seen all others come to one round, a *meeting*; or, when its
// places are used up, by a *passing*, a round in which each member says that it has come, and waits
// only until all have come to the passing before.
//
// Invariant: a half is entered anew only once all members are known to have ended the rounds of
// that half. For who comes to a round has ended all earlier ones, and what was written in a half is
// older than the round by which it was left. After a meeting, what was written in it may still be
// read; so the first passing after one is waited for as a meeting is.
//
// All members make the same calls, so their places and numbers are the same without a word.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinew/base/check.hpp"

namespace sinew::node {

/// A round: its number, which is what members write to say that they have come, and its place.
struct round {
  std::uint64_t stamp;  ///< from 1; never used twice
  std::uint32_t half;
  std::uint32_t position;  ///< `rounds::depth` only in a passing
};

class rounds {
 public:
  /// Rounds that follow each other without a meeting or passing.
  static constexpr std::uint32_t depth = 32;
  static constexpr std::uint32_t places = 2 * (depth + 1);

  /// There is no place left: all have to pass before next(). Hot.
  [[nodiscard]] bool must_pass() const noexcept { return position_ == depth; }
  /// Hot.
  [[nodiscard]] round next() noexcept {
    SINEW_EXPECT(position_ < depth && half_ < 2);
    return {++stamp_, half_, position_++};
  }
  /// Places that are left in this half. Hot.
  [[nodiscard]] std::uint32_t left() const noexcept {
    SINEW_EXPECT(position_ <= depth);
    return depth - position_;
  }
  /// The last round takes so many places more: its writer says so, and all others read it. Hot.
  void widen(std::uint32_t places_more) noexcept {
    SINEW_EXPECT(places_more <= left());
    position_ += places_more;
  }
  /// All members have come to the last round. What they wrote there can be read until this member
  /// comes to another meeting or passing. Hot.
  void met() noexcept {
    SINEW_EXPECT(position_ != 0);  // once for a round
    passed_ = {0, 0, 0};
    turn();
  }

  /// A round of its own, in which a member says that it has come, before passed(). Warm.
  [[nodiscard]] round passing() noexcept {
    SINEW_EXPECT(half_ < 2);
    position_ = depth + 1;
    return {++stamp_, half_, depth};
  }
  /// The passing to which all have to have come before this member goes on; later ones may have
  /// overwritten its stamps. Warm.
  [[nodiscard]] round passed() noexcept {
    SINEW_EXPECT(position_ == depth + 1);
    const round now{stamp_, half_, depth};
    const round awaited = passed_.stamp != 0 ? passed_ : now;
    passed_ = now;
    turn();
    return awaited;
  }
  [[nodiscard]] static constexpr std::uint32_t place_of(const round& r) noexcept {
    return r.half * (depth + 1) + r.position;
  }

 private:
  void turn() noexcept {
    half_ = 1 - half_;
    position_ = 0;
  }

  std::uint64_t stamp_ = 0;
  std::uint32_t half_ = 0;
  std::uint32_t position_ = 0;
  round passed_{0, 0, 0};  ///< the last passing, if no meeting has followed it
};
static_assert(rounds::place_of({1, 1, rounds::depth}) == rounds::places - 1);

}  // namespace sinew::node
