// SPDX-License-Identifier: BSD-3-Clause
// The profile that `sinew run --profile` asks the ranks for, and shows at the end.
#pragma once

#include <string>

namespace sinew::tool {

/// The file that the ranks write, as an absolute path: `asked` itself, or beside a page
/// (PAGE.html) that of its name with .json.
[[nodiscard]] std::string profile_file(const std::string& asked);

/// Removes what is there of another run. Before the ranks start.
void forget_profile(const std::string& asked);
/// Reads it and, if that is asked for, writes the page. Returns what to tell: the table, or a
/// sentence that there is none. Cold.
[[nodiscard]] std::string show_profile(const std::string& asked);

}  // namespace sinew::tool
