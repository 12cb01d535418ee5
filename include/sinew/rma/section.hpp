// SPDX-License-Identifier: BSD-3-Clause
// Which elements a strided or indexed transfer moves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew::rma {

/// One dimension of a section, the same on both sides but for where its elements lie. Element i of
/// it is `i * stride` bytes on, or `index[i] * stride` if there is an index list. `near` is this
/// rank's memory, `far` the other's. A section is a list of axes, the innermost (fastest) first.
struct axis {
  std::size_t count = 1;
  std::ptrdiff_t near_stride = 0;
  std::ptrdiff_t far_stride = 0;
  const std::int64_t* near_index = nullptr;
  const std::int64_t* far_index = nullptr;
};

inline constexpr std::size_t most_axes = 16;

}  // namespace sinew::rma
