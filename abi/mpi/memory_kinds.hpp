// SPDX-License-Identifier: BSD-3-Clause
// Kinds of memory that buffers may lie in (MPI-5.0 section 11.4.3): the process's own, wherever it
// comes from, and what MPI_Alloc_mem and windows give.
#pragma once

#include <string_view>

namespace sinew::mpi {

inline constexpr const char* memory_kinds_key = "mpi_memory_alloc_kinds";
inline constexpr const char* asserted_kinds_key = "mpi_assert_memory_alloc_kinds";
inline constexpr const char* memory_kinds = "mpi,system";

/// Whether `list`, with commas between, names some of these kinds and no others.
[[nodiscard]] constexpr bool are_memory_kinds(std::string_view list) noexcept {
  for (;;) {
    const std::string_view one = list.substr(0, list.find(','));
    if (one != "mpi" && one != "system") {
      return false;
    }
    if (one.size() == list.size()) {
      return true;
    }
    list.remove_prefix(one.size() + 1);
  }
}
static_assert(are_memory_kinds(memory_kinds) && are_memory_kinds("system"));
static_assert(!are_memory_kinds("") && !are_memory_kinds("system,cuda"));

}  // namespace sinew::mpi
