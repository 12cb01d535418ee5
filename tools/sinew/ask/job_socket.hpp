// SPDX-License-Identifier: BSD-3-Clause
// How `sinew status` finds the jobs of this machine and asks them: each launcher has a socket whose
// name says its user and its process. Both are of this machine and of one user.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/boot/descriptor.hpp"

namespace sinew::tool {

/// `elsewhere`: ranks that do not stand where most do, "1,4-7".
enum class question : std::uint8_t { places, stacks, json, numbers, elsewhere };
[[nodiscard]] question question_of(std::string_view line) noexcept;

// --- the launcher's side ---

/// Listens; none where the system does not let us.
[[nodiscard]] boot::descriptor job_socket();
/// None if it is another user's.
[[nodiscard]] boot::descriptor take_asker(int socket);
/// Gives up on one who does not read.
void send_answer(int connection, std::string_view text);

// --- who asks ---

/// Launchers of this user, by process number, ascending.
[[nodiscard]] std::vector<pid_t> running_jobs();
/// Waits for the answer. Throws sinew::error.
[[nodiscard]] std::string ask_job(pid_t launcher, question what);

}  // namespace sinew::tool
