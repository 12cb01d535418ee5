// SPDX-License-Identifier: BSD-3-Clause
// Where tasks run: a worker of a rank, or a group of them. A value, valid on every rank.
#pragma once

#include <compare>
#include <cstdint>

#include "sinew/base/ids.hpp"

namespace sinew::event {

class processor {
 public:
  constexpr processor() noexcept = default;
  constexpr processor(job_rank rank, std::uint32_t index, bool group = false) noexcept
      : bits_(rank.index() << 32 | (group ? group_bit : 0) | index) {}
  [[nodiscard]] static constexpr processor from_bits(std::uint64_t bits) noexcept {
    processor p;
    p.bits_ = bits;
    return p;
  }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr job_rank rank() const noexcept {
    return job_rank{static_cast<int>(bits_ >> 32)};
  }
  /// Of a group: its number on the rank that made it.
  [[nodiscard]] constexpr std::uint32_t index() const noexcept {
    return static_cast<std::uint32_t>(bits_) & (group_bit - 1);
  }
  [[nodiscard]] constexpr bool is_group() const noexcept { return (bits_ & group_bit) != 0; }
  friend constexpr auto operator<=>(processor, processor) noexcept = default;

 private:
  static constexpr std::uint32_t group_bit = 1u << 31;
  std::uint64_t bits_ = 0;
};

}  // namespace sinew::event
