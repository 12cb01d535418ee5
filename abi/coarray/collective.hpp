// SPDX-License-Identifier: BSD-3-Clause
// Collective subroutines over the images of a team.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "abi/coarray/element.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/record_call.hpp"

namespace sinew::coarray {

/// Calls use(address) for each element of an array, in Fortran's order.
template <class Use>
void each_element(const descriptor& d, Use&& use) {
  std::array<index, most_dimensions> at{};
  for (int i = 0; i < d.rank(); ++i) {
    if (d.dim[i].extent() == 0) {
      return;
    }
  }
  for (int i = -1; i < d.rank();) {
    std::byte* there = static_cast<std::byte*>(d.base);
    for (i = 0; i < d.rank(); ++i) {
      there += at[static_cast<std::size_t>(i)] * d.dim[i].stride * d.step();
    }
    use(there);
    for (i = 0; i < d.rank() && ++at[static_cast<std::size_t>(i)] == d.dim[i].extent(); ++i) {
      at[static_cast<std::size_t>(i)] = 0;
    }
  }
}

/// into[i] = into[i] op from[i]; ranks are combined in their order.
struct combiner {
  void (*call)(const combiner& self, void* into, const void* from, std::size_t count) noexcept;
  std::size_t element_bytes;
  void* function = nullptr;  ///< CO_REDUCE's
  int flags = 0;
  std::size_t characters = 0;
  parts record = parts::unknown;  ///< of derived types
};

enum class reduction : std::uint8_t { sum, min, max };

/// Both throw sinew::error for types that Fortran or we do not have there.
[[nodiscard]] combiner intrinsic_combiner(reduction op, const element& e);
/// `flags` and `characters` as the compiler passes them to co_reduce.
[[nodiscard]] combiner user_combiner(void* function, int flags, const element& e,
                                     std::size_t characters);

/// `result_image` from 1; 0: all. Returns 0 or a stat of images that left. Throws sinew::error.
[[nodiscard]] int reduce(descriptor& a, const combiner& op, int result_image);
[[nodiscard]] int broadcast(descriptor& a, int source_image);

}  // namespace sinew::coarray
