// SPDX-License-Identifier: BSD-3-Clause
// The machine's processors and memory as a picture.
#pragma once

#include <string>
#include <vector>

#include "sinew/base/topology.hpp"

namespace sinew::tool {

/// An SVG: packages hold memory nodes, which hold cores with the numbers of their processors;
/// below, how near each node's memory is to the processors of each. Cold.
[[nodiscard]] std::string machine_picture(const std::vector<topology::core>& cores,
                                          const topology::memory_map& memory);

}  // namespace sinew::tool
