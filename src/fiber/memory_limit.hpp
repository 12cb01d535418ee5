// SPDX-License-Identifier: BSD-3-Clause
// How much memory there is for stacks, and how many mappings.
#pragma once

#include <cstdint>
#include <string>

namespace sinew::fiber {

/// Bytes of memory that this process may still use: the machine's, or its control group's if that
/// has less. Pages of files count as free, since the kernel gives them back. `root` is put in front
/// of the kernel's files, for tests. Cold.
[[nodiscard]] std::uint64_t memory_limit(const std::string& root = "");

/// How many bytes of that fit for stacks, counted as a page each, beside what the kernel needs for
/// them and a reserve for the program. `guarded`: how many of them have guard pages. Cold.
[[nodiscard]] std::uint64_t stacks_within(std::uint64_t memory, std::int64_t guarded);

/// Guards below stacks take two of the kernel's mappings each (vm.max_map_count).
struct guard_counts {
  std::int64_t stacks = 0;  ///< that have one each
  std::int64_t chunks = 0;  ///< of later stacks, that have one below all; further ones have none
};

/// For `wanted` stacks with guards: at most half of the mappings for these and a quarter for
/// chunks, so that the rest is left to the program, however many fibers there are. `root` as above.
/// Cold.
[[nodiscard]] guard_counts guards_within_limit(std::int64_t wanted, const std::string& root = "");

}  // namespace sinew::fiber
