// SPDX-License-Identifier: BSD-3-Clause
// Types of elements and their conversion.
#pragma once

#include <cstddef>

#include "abi/coarray/gfortran.hpp"

namespace sinew::coarray {

struct element {
  coarray::type type;
  int kind;
  std::size_t bytes;
};

/// Whether a copy of the bytes does.
[[nodiscard]] bool same(const element& a, const element& b) noexcept;

/// How to make a `to` of a `from`.
class conversion {
 public:
  /// Throws sinew::error if Fortran has no such assignment.
  conversion(const element& to, const element& from);
  void operator()(void* to, const void* from) const noexcept;

 private:
  using number = void (*)(void* to, const void* from) noexcept;
  number number_ = nullptr;
  element to_;
  element from_;
};

}  // namespace sinew::coarray
