// How much memory there is for stacks, and how many mappings.
#pragma once

#include <cstdint>
#include <string>

namespace sinew::fiber {

/// Bytes of memory that this process may use at most: the machine's, or its control group's if that
/// has less. `root` is put in front of the kernel's files, for tests. Cold.
[[nodiscard]] std::uint64_t memory_limit(const std::string& root = "");

/// How many stacks of `wanted` may have a guard page, which takes two mappings each: half of what
/// the kernel allows a process (vm.max_map_count) is left to the program and to other stacks. Cold.
[[nodiscard]] std::int64_t guards_within_limit(std::int64_t wanted, const std::string& root = "");

}  // namespace sinew::fiber
