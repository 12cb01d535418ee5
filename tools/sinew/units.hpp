// SPDX-License-Identifier: BSD-3-Clause
// Times and amounts as people read them.
#pragma once

#include <map>
#include <string>

namespace sinew::tool {

[[nodiscard]] std::string time_text(double ns);       ///< "1.234 ms"
[[nodiscard]] std::string amount_text(double bytes);  ///< "3.42 MiB"
[[nodiscard]] std::string percent_text(double part, double of);
[[nodiscard]] std::string count_text(double whole);
/// The keys, "0-2,5".
[[nodiscard]] std::string ranks_text(const std::map<int, double>& by_rank);

}  // namespace sinew::tool
