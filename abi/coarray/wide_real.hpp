// SPDX-License-Identifier: BSD-3-Clause
// REAL(10) and REAL(16) both come as elements of 16 bytes, and the compiler does not say which:
// what they are has to be found out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew::coarray {

enum class wide_format { x87, quad };

/// What the bits of some elements say. The members are sums, so that those of several images add
/// up.
struct wide_evidence {
  std::int64_t not_x87 = 0;  ///< elements that no REAL(10) looks like
  std::int64_t x87 = 0;      ///< elements that look like a REAL(10) of usual size

  void look_at(const void* element) noexcept;
  /// Padding may hold anything, so zeros say nothing. SINEW_COARRAY_WIDE_REAL overrules it.
  [[nodiscard]] wide_format verdict() const;
};

/// Where a pure function of two such numbers (or complex pairs of them) leaves its result. Calls it
/// once with ones.
[[nodiscard]] wide_format result_format(void* function, bool by_value, bool complex) noexcept;

}  // namespace sinew::coarray
