// Where the words of a collective's rounds lie, and when they may be used again: the bookkeeping of
// each member, without any memory.
//
// A member writes in a round at most once into a place that all members know, and may read what the
// others have written there. Most rounds make nobody wait for everybody: the root of a broadcast
// writes and goes on. A place may be written again when nobody reads it any more, and that takes no
// acknowledgements: the places are two halves of `depth` places each (and one more), used by turns,
// and a half is left when a member has seen all others come to one round, a *meeting*.
//
// Invariant: a half is entered anew only after two meetings since it was entered before. Whoever
// has come to the second one has read all that was written before it, which is all of that half up
// to and including the first. For who comes to a round has ended all earlier ones.
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
  std::uint32_t position;  ///< `rounds::depth` only in a meeting
};

class rounds {
 public:
  /// Rounds that follow each other without a meeting.
  static constexpr std::uint32_t depth = 32;
  static constexpr std::uint32_t places = 2 * (depth + 1);

  /// There is no place left: all have to meet before next(). Hot.
  [[nodiscard]] bool must_meet() const noexcept { return position_ == depth; }
  /// The next one; a meeting if must_meet(). Hot.
  [[nodiscard]] round next() noexcept {
    SINEW_EXPECT(position_ <= depth && half_ < 2);
    return {++stamp_, half_, position_++};
  }
  /// All members have come to the last round. What they wrote there can be read until this member
  /// comes to another meeting. Hot.
  void met() noexcept {
    SINEW_EXPECT(position_ != 0);  // once for a round
    half_ = 1 - half_;
    position_ = 0;
  }
  [[nodiscard]] static constexpr std::uint32_t place_of(const round& r) noexcept {
    return r.half * (depth + 1) + r.position;
  }

 private:
  std::uint64_t stamp_ = 0;
  std::uint32_t half_ = 0;
  std::uint32_t position_ = 0;
};
static_assert(rounds::place_of({1, 1, rounds::depth}) == rounds::places - 1);

}  // namespace sinew::node
