// SPDX-License-Identifier: BSD-3-Clause
// One write(2) for a whole text, so that lines of different processes do not tear each other.
#pragma once

#include <string_view>

namespace sinew::base {

/// Writes all of `text`; goes on after interruptions and short writes; gives up silently on other
/// errors, because the caller is itself the last resort for reporting. Keeps errno. Any context,
/// signal handlers and the time between fork and exec included. Cold.
void raw_write(int descriptor, std::string_view text) noexcept;

}  // namespace sinew::base
