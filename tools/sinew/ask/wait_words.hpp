// SPDX-License-Identifier: BSD-3-Clause
// What a rank waits for, in words.
#pragma once

#include <string>

#include "sinew/ask/roll_call.hpp"
#include "sinew/boot/wait_report.hpp"

namespace sinew::tool {

/// `without_ranks`: what ranks that wait for different ones have in common.
enum class wait_detail : std::uint8_t { all, without_ranks, none };

/// Behind the name of a call: " from rank 1, tag 7, of MPI_COMM_WORLD, 4 bytes".
[[nodiscard]] std::string wait_text(const boot::awaited& what, wait_detail detail);
/// As a member of a JSON object.
[[nodiscard]] std::string wait_json(const boot::wait_report& report);
/// Of ranks that wait for ever, all there are: one sentence, without its full stop. Those that wait
/// for each other in a circle come first.
[[nodiscard]] std::string deadlock_text(const roll& all);

}  // namespace sinew::tool
