// SPDX-License-Identifier: BSD-3-Clause
// What a rank does when another one has written what the protocol does not know.
#pragma once

#include <cstdint>
#include <string_view>

#include "sinew/base/ids.hpp"

namespace sinew::fabric {

/// The memory that rank `peer` writes for us holds `what`, a clause; `value` is the number that is
/// wrong. Says so and ends the process with 1, which ends the job: nothing else that this peer has
/// written can be believed. Any context. Cold.
[[noreturn, gnu::cold, gnu::noinline]] void corrupt_peer(job_rank peer, std::string_view what,
                                                         std::uint64_t value) noexcept;

}  // namespace sinew::fabric
