// SPDX-License-Identifier: BSD-3-Clause
// Shapes as text, shared by the command line's form and SimGrid's platform files.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sinew/route/topology.hpp"

namespace sinew::route {

/// "4,4,8"; nothing unless all are whole numbers of at least 1.
std::optional<std::vector<std::uint32_t>> number_list(std::string_view text);
/// "2;4,4;1,2;1,2"
std::optional<fat_tree_shape> fat_tree_from(std::string_view text);
/// "3,4;4,3;5,1;2"
std::optional<dragonfly_shape> dragonfly_from(std::string_view text);
/// "4x4mx8": m marks a dimension that does not wrap.
std::optional<grid_shape> grid_from(std::string_view text, bool wraps);

}  // namespace sinew::route
