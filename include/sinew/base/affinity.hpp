// SPDX-License-Identifier: BSD-3-Clause
// Which processors a thread of any process may use, by its number. A number that nobody has, or a
// thread of another user, has no processors. Only system calls. Cold.
#pragma once

#include <span>
#include <vector>

namespace sinew::topology {

/// Ascending; 0: the calling thread.
[[nodiscard]] std::vector<int> cpus_of_thread(int thread);
/// False if the system refuses or the list is empty.
[[nodiscard]] bool bind_thread(int thread, std::span<const int> cpus) noexcept;

}  // namespace sinew::topology
