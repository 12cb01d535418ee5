// SPDX-License-Identifier: BSD-3-Clause
// Calling CO_REDUCE's function for derived types. How such a function takes and returns records of
// up to 16 bytes depends on their members, which the compiler does not tell.
#pragma once

#include <cstddef>

namespace sinew::coarray {

/// Where the parts of eight bytes of a record travel; on arm64 all of them where integers do, or
/// each of up to four reals of one kind in its register.
enum class parts : int {
  memory,
  integer,
  real,
  integer_integer,
  real_real,
  integer_real,
  real_integer,
  floats,
  doubles,
  quads,
  unknown,
};

/// Of a function of two records that returns one. Found out by calling it: a part of the result is
/// where what is found changes with that part of the arguments. The same on all images. Cold.
[[nodiscard]] parts parts_of(void* function, bool by_value, std::size_t bytes);

/// result = function(a, b). Records of more than `most_by_value` bytes cannot be passed by value.
void call_record(void* function, bool by_value, std::size_t bytes, parts how, void* result,
                 const void* a, const void* b) noexcept;
inline constexpr std::size_t most_by_value = 256;

}  // namespace sinew::coarray
