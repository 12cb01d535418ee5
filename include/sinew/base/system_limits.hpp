// SPDX-License-Identifier: BSD-3-Clause
// Which limit of the system a failed call ran into, for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sinew::base {

/// What the system says of `failure` (an errno), with the limit that is reached where one is:
/// "Too many open files: the limit is 12 (ulimit -n)". EAGAIN is taken for that of a process or
/// thread that could not be made. `root` stands before /proc and /sys (for tests). Cold.
[[nodiscard]] std::string system_reason(int failure, const std::string& root = "");

/// What to do: to raise the limit that system_reason() names, or else `otherwise`. Cold.
[[nodiscard]] std::string system_advice(int failure, std::string_view otherwise = {},
                                        const std::string& root = "");

/// Whether a call failed for want of files or memory, whatever was asked for. Cold.
[[nodiscard]] bool is_exhausted(int failure) noexcept;

/// Folders of this process's control group for `controller`, of version 2 or 1, and of those above
/// it, the nearest first. Not all of them need exist: inside a container the path may be one of the
/// host, and the files lie at the top. Cold.
[[nodiscard]] std::vector<std::string> control_groups(std::string_view controller,
                                                      const std::string& root = "");

}  // namespace sinew::base
