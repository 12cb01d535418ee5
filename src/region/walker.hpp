// SPDX-License-Identifier: BSD-3-Clause
// The elements of one side of a transfer, in their order, as runs: offsets in equal steps. Pure
// arithmetic on layouts; plan.hpp pairs the runs of two sides.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sinew/region/layout.hpp"

namespace sinew::region {

/// A section with all its counts known, padded at the front. Plain data: travels in messages.
using box = std::array<slice, most_axes>;

/// Throws sinew::error that names the axis if an element lies outside of `whole`. `what` begins the
/// message.
[[nodiscard]] box resolve(const shape& whole, const section& s, const char* what);
[[nodiscard]] std::uint64_t elements_of(const box& b) noexcept;

/// Elements at offset, offset + step, ... (bytes) of a part.
struct run {
  std::uint32_t part;
  std::int64_t offset;
  std::int64_t step;
  std::uint64_t count;
};

/// Refers to the layout (and the list), which must live as long.
class walker {
 public:
  /// `which` lies inside of the layout's shape, as resolve() returns it.
  walker(const layout& where, std::uint16_t field, const box& which);
  /// By the elements' numbers, which lie inside.
  walker(const layout& where, std::uint16_t field, std::span<const std::int64_t> elements);

  [[nodiscard]] bool done() const noexcept { return left_ == 0; }
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }  ///< elements
  /// The longest run from here. Not if done().
  [[nodiscard]] run now() const noexcept;
  /// Not more than are left.
  void skip(std::uint64_t elements) noexcept;
  [[nodiscard]] bool listed() const noexcept { return listed_; }
  /// Addresses of the next `to.size()` elements (not more than are left); skips them. `bases`:
  /// where each part begins.
  void addresses(std::span<const std::uint64_t> bases, std::span<std::uint64_t> to) noexcept;

 private:
  [[nodiscard]] run place(std::int64_t at, std::int64_t step, std::uint64_t count) const noexcept;

  const layout& layout_;
  const affine& field_;
  std::span<const std::int64_t> list_;
  bool listed_ = false;
  /// Loops, the innermost last; steps in bytes, or in elements if there are several parts.
  struct loop {
    std::uint64_t count = 1;
    std::int64_t step = 0;
    std::uint64_t at = 0;
  };
  std::array<loop, most_axes> loops_{};
  std::int64_t base_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t next_ = 0;  ///< in list_
};

/// Copies `count` elements of `bytes` each. The two sides do not overlap. Hot.
void copy_run(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
              std::uint64_t count, std::size_t bytes) noexcept;

}  // namespace sinew::region
