// SPDX-License-Identifier: BSD-3-Clause
// Threads and descendants of a process, as /proc tells them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace sinew::tool {

/// "/proc/PID".
[[nodiscard]] std::string folder_of(pid_t pid);
/// The numbers of its threads; none if it has ended.
[[nodiscard]] std::vector<pid_t> threads_of(pid_t pid);
/// The process and those that it, or one of these, has started by any thread: `most` of them.
[[nodiscard]] std::vector<pid_t> process_tree(pid_t pid, std::size_t most = 1024);

}  // namespace sinew::tool
