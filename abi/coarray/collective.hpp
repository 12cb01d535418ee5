// Collective subroutines over the images of a team.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/coarray/element.hpp"
#include "abi/coarray/gfortran.hpp"

namespace sinew::coarray {

/// into[i] = into[i] op from[i]; ranks are combined in their order.
struct combiner {
  void (*call)(const combiner& self, void* into, const void* from, std::size_t count) noexcept;
  std::size_t element_bytes;
  void* function = nullptr;  ///< CO_REDUCE's
  int flags = 0;
  std::size_t characters = 0;
};

enum class reduction : std::uint8_t { sum, min, max };

/// Both throw sinew::error for types that Fortran or we do not have there.
[[nodiscard]] combiner standard_combiner(reduction op, const element& e);
/// `flags` and `characters` as the compiler passes them to co_reduce.
[[nodiscard]] combiner user_combiner(void* function, int flags, const element& e,
                                     std::size_t characters);

/// `result_image` from 1; 0: all. Returns 0 or a stat of images that left. Throws sinew::error.
[[nodiscard]] int reduce(descriptor& a, const combiner& op, int result_image);
[[nodiscard]] int broadcast(descriptor& a, int source_image);

}  // namespace sinew::coarray
