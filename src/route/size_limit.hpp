// SPDX-License-Identifier: BSD-3-Clause
// How large a network may be, asked before its links are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sinew::route {

/// Throws sinew::error where so many nodes and links (both directions counted) would take more than
/// SINEW_ROUTE_MEMORY.
void check_size(const std::string& name, std::uint64_t nodes, std::uint64_t links,
                std::size_t dimensions);

}  // namespace sinew::route
