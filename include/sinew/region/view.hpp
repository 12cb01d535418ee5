// SPDX-License-Identifier: BSD-3-Clause
// The elements of an instance as an array of one to three axes. Like std::mdspan of C++23, but with
// strides in bytes: so a field of an array of structures, whose stride need not be a multiple of
// its own size, is a view like any other.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "sinew/base/check.hpp"

namespace sinew::region {

/// Does not own what it shows: valid until the instance is destroyed. The last axis is the fastest.
/// Any context; hot.
template <class T, std::size_t Axes>
class view {
  static_assert(Axes >= 1 && Axes <= 3, "a shape has one to three axes");
  static_assert(std::is_trivially_copyable_v<T>, "fields are moved as bytes");

 public:
  using element_type = T;

  view() = default;
  view(T* first, std::array<std::uint64_t, Axes> extents,
       std::array<std::int64_t, Axes> byte_strides) noexcept
      : first_(first), extents_(extents), strides_(byte_strides) {
    SINEW_EXPECT(first != nullptr || size() == 0);
    SINEW_EXPECT(reinterpret_cast<std::uintptr_t>(first) % alignof(T) == 0);
  }

  [[nodiscard]] std::uint64_t extent(std::size_t axis) const noexcept {
    SINEW_EXPECT(axis < Axes);
    return extents_[axis];
  }
  [[nodiscard]] std::int64_t byte_stride(std::size_t axis) const noexcept {
    SINEW_EXPECT(axis < Axes);
    return strides_[axis];
  }
  [[nodiscard]] std::uint64_t size() const noexcept {
    std::uint64_t n = 1;
    for (const std::uint64_t e : extents_) {
      n *= e;
    }
    return n;
  }
  [[nodiscard]] T* data() const noexcept { return first_; }

  template <std::integral... Index>
    requires(sizeof...(Index) == Axes)
  [[nodiscard]] T& operator()(Index... index) const noexcept {
    std::size_t axis = 0;
    std::int64_t at = 0;
    ((SINEW_EXPECT(static_cast<std::uint64_t>(index) < extents_[axis]),
      at += static_cast<std::int64_t>(index) * strides_[axis++]),
     ...);
    return *reinterpret_cast<T*>(reinterpret_cast<raw*>(first_) + at);
  }
  [[nodiscard]] T& operator[](std::uint64_t i) const noexcept
    requires(Axes == 1)
  {
    return (*this)(i);
  }

  /// Elements follow each other without gaps, the last axis first.
  [[nodiscard]] bool contiguous() const noexcept {
    auto step = static_cast<std::int64_t>(sizeof(T));
    for (std::size_t axis = Axes; axis-- > 0;) {
      if (extents_[axis] > 1 && strides_[axis] != step) {
        return false;
      }
      step *= static_cast<std::int64_t>(extents_[axis]);
    }
    return true;
  }
  /// All elements as one array. Only if contiguous().
  [[nodiscard]] std::span<T> span() const noexcept {
    SINEW_EXPECT(contiguous());
    return {first_, static_cast<std::size_t>(size())};
  }

 private:
  using raw = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  T* first_ = nullptr;
  std::array<std::uint64_t, Axes> extents_{};
  std::array<std::int64_t, Axes> strides_{};
};

}  // namespace sinew::region
