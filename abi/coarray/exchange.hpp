// SPDX-License-Identifier: BSD-3-Clause
// An allgather of one word among the images of a team.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/coarray/team.hpp"

namespace sinew::coarray {

/// Each member gives a word and gets those of all, in the order of their indices. Collective;
/// throws image_left if a member has stopped before it. Cold.
[[nodiscard]] std::vector<std::uint64_t> exchange(team& t, std::uint64_t word);
/// The same for offsets in the members' heaps, by global rank (others 0).
[[nodiscard]] std::vector<std::uint64_t> exchange_offsets(team& t, std::uint64_t offset);

}  // namespace sinew::coarray
