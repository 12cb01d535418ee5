// SPDX-License-Identifier: BSD-3-Clause
// The page: one HTML text with all figures in it, readable without network, scripts or colours.
#pragma once

#include <string>
#include <vector>

#include "sinew/report/drawing.hpp"

namespace sinew::tool {

/// `missing`: figures of which nothing was measured, with the command that would. Cold.
[[nodiscard]] std::string page_of(const std::vector<drawn_figure>& figures,
                                  const std::vector<figure>& missing);

/// What every page of the tool begins and ends with: its style, no scripts, nothing from elsewhere.
[[nodiscard]] std::string page_begin(const std::string& title);
[[nodiscard]] std::string page_end();

}  // namespace sinew::tool
