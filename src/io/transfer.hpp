// SPDX-License-Identifier: BSD-3-Clause
// Moves one rank's data between memory and its view of a file. Other ranks matter only for the
// locks.
#pragma once

#include <cstdint>

#include "io/state.hpp"

namespace sinew::io {

/// Moves all bytes of `data` from or to the view's bytes from `position` on. Returns how many:
/// fewer if the file ends before. Throws with the system's reason. Warm.
[[nodiscard]] std::int64_t move_alone(file::state& f, direction way, std::int64_t position,
                                      const p2p::buffer& data);

/// The same, collective: every rank of the file has its own part (two_phase.cpp).
[[nodiscard]] std::int64_t move_together(file::state& f, direction way, std::int64_t position,
                                         const p2p::buffer& data);

/// Writes bytes that lie side by side; with the lock that writers agree on, if they do. Returns the
/// system's error number. Warm.
[[nodiscard]] int write_plainly(const file::state& f, std::int64_t offset, const std::byte* from,
                                std::int64_t bytes) noexcept;

}  // namespace sinew::io
