// SPDX-License-Identifier: BSD-3-Clause
// Memory of coarrays, locks and events.
#pragma once

#include "abi/coarray/failure.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/token.hpp"

namespace sinew::coarray {

/// Throws sinew::error or image_left. `has_stat`: the program wants to go on then.
void enrol(std::size_t size, registration kind, void** token_at, descriptor& d, bool has_stat);
/// 0, or the stat of images that have left. After it the array is not allocated here in any case.
[[nodiscard]] int withdraw(void** token_at, deregistration kind);
/// The compiler may pass what has been released, or was never set.
[[nodiscard]] bool is_registered(const void* token) noexcept;
/// END TEAM: what was allocated in the team is so no more.
void release_memory_of(const team& t);

}  // namespace sinew::coarray
