// SPDX-License-Identifier: BSD-3-Clause
// An event: something that will have happened, as Realm's events are (Treichler, Bauer, Aiken, PACT
// 2014). A 64-bit value, valid on every rank, passed by value.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::event {

/// What is known of an event. `poisoned` is triggered too: what it stood for has failed.
enum class state : std::uint8_t { pending, triggered, poisoned };

/// Owner, slot at the owner, generation of the slot. The default value stands for nothing to wait
/// for: it has triggered. A handle stays valid for ever: the slot of a triggered event is used
/// again under the next generation, and a slot whose generations are used up is not used again.
/// So a rank can make 2^48 events (a year at 9 million a second) and have 2^26 pending at a time.
class event {
 public:
  static constexpr int generation_bits = 22;
  static constexpr int index_bits = 26;
  static constexpr std::uint32_t last_generation = (1u << generation_bits) - 1;
  static constexpr std::uint32_t most_slots = 1u << index_bits;
  static constexpr int most_owners = 1 << (64 - index_bits - generation_bits);

  constexpr event() noexcept = default;
  constexpr event(job_rank owner, std::uint32_t index, std::uint32_t generation) noexcept
      : bits_(owner.index() << (index_bits + generation_bits) |
              static_cast<std::uint64_t>(index) << generation_bits | generation) {
    SINEW_EXPECT(owner.below(most_owners));
    SINEW_EXPECT(index < most_slots && generation <= last_generation);
  }
  [[nodiscard]] static constexpr event from_bits(std::uint64_t bits) noexcept {
    event e;
    e.bits_ = bits;
    return e;
  }

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  /// False for the event that stands for nothing.
  [[nodiscard]] constexpr bool exists() const noexcept { return bits_ != 0; }
  [[nodiscard]] constexpr job_rank owner() const noexcept {
    return job_rank{static_cast<int>(bits_ >> (index_bits + generation_bits))};
  }
  [[nodiscard]] constexpr std::uint32_t index() const noexcept {
    return static_cast<std::uint32_t>(bits_ >> generation_bits) & (most_slots - 1);
  }
  [[nodiscard]] constexpr std::uint32_t generation() const noexcept {
    return static_cast<std::uint32_t>(bits_) & last_generation;
  }
  friend constexpr auto operator<=>(event, event) noexcept = default;

 private:
  std::uint64_t bits_ = 0;
};

/// An event that a program triggers itself, once, on whichever rank.
class user_event : public event {
 public:
  constexpr user_event() noexcept = default;
  constexpr explicit user_event(event e) noexcept : event(e) {}
};

static_assert(sizeof(user_event) == 8);

}  // namespace sinew::event

template <>
struct std::hash<sinew::event::event> {
  std::size_t operator()(sinew::event::event e) const noexcept {
    return static_cast<std::size_t>(e.bits() * 0x9e3779b97f4a7c15ULL >> 7);
  }
};
