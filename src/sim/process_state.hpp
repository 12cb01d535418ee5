// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of a rank's process.
#pragma once

namespace sinew::sim {

/// The letter of /proc/PID/stat: 'R' while it computes; 0 if there is no such process. Cold.
[[nodiscard]] char process_state(int pid);

/// On a processor, or kept from it by the kernel.
[[nodiscard]] inline bool computes(char state) noexcept { return state == 'R' || state == 'D'; }
[[nodiscard]] inline bool has_ended(char state) noexcept {
  return state == 0 || state == 'Z' || state == 'X';
}

}  // namespace sinew::sim
