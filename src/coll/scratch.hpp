// SPDX-License-Identifier: BSD-3-Clause
// Temporary memory of one collective call.
#pragma once

#include <cstddef>

#include "sinew/base/check.hpp"
#include "sinew/layout/datatype.hpp"

namespace sinew::coll {

/// Room for `count` instances of a type, at addresses the type may use: base() is where instance 0
/// is addressed, which for a type with a positive lower bound lies before the memory itself.
/// Small ones live inside the object; others on the heap, where each thread keeps a few long ones
/// from call to call: the kernel would take and clear their pages each time (that costs more than
/// the reduction of 256 KiB they are for). Throws std::bad_alloc.
class scratch {
 public:
  scratch() noexcept = default;
  scratch(std::size_t count, const layout::datatype& type) { take(count, type); }
  explicit scratch(std::size_t bytes) { base_ = allocate(bytes); }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    if (heap_ != nullptr) {
      give_back();
    }
  }

  /// Where instances lie: from `low` on, relative to where the first one is addressed.
  struct range {
    std::ptrdiff_t low;
    std::size_t bytes;
  };
  [[nodiscard]] static range range_of(std::size_t count, const layout::datatype& type) noexcept {
    const auto last = count == 0 ? 0 : static_cast<std::ptrdiff_t>(count - 1) * type.extent();
    std::ptrdiff_t low = type.true_lower() + (last < 0 ? last : 0);
    const std::ptrdiff_t high = type.true_lower() + type.true_extent() + (last > 0 ? last : 0);
    SINEW_ASSERT(low <= high);
    low = low & ~static_cast<std::ptrdiff_t>(alignment - 1);  // keeps the elements' alignment
    return {low, static_cast<std::size_t>(high - low)};
  }
  /// Once.
  void take(std::size_t count, const layout::datatype& type) {
    SINEW_EXPECT(base_ == nullptr);
    const range r = range_of(count, type);
    base_ = allocate(r.bytes) - r.low;
  }

  [[nodiscard]] std::byte* base() const noexcept { return base_; }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t inline_bytes = 512;
  static_assert((alignment & (alignment - 1)) == 0 && inline_bytes % alignment == 0);

  void borrow(std::size_t bytes);
  void give_back() noexcept;

  std::byte* allocate(std::size_t bytes) {
    if (bytes <= inline_bytes) {
      return inline_;
    }
    borrow(bytes);
    return static_cast<std::byte*>(heap_);
  }

  alignas(alignment) std::byte inline_[inline_bytes];  // not initialised: only touched if used
  void* heap_ = nullptr;
  std::size_t heap_bytes_ = 0;
  std::byte* base_ = nullptr;
};

}  // namespace sinew::coll
