// SPDX-License-Identifier: BSD-3-Clause
// Statements about teams.
#pragma once

#include "abi/coarray/failure.hpp"
#include "abi/coarray/team.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::coarray {

/// `new_index` null: members keep their order. Throws sinew::error or image_left. Lives for ever,
/// as nothing in the language ends a team; what is the same as an earlier one is that. Collective
/// over the current team.
[[nodiscard]] team* form_team(int number, const int* new_index);
/// Of FORM TEAM that has made it, for STAT=: 0, or stat::failed_image if failed images are left
/// out.
[[nodiscard]] int status_of_forming(const team& made) noexcept;
/// Of the team that TEAM_NUMBER= names, in their order: the initial one, this one, or one that was
/// formed together with it. Empty: there is none.
[[nodiscard]] std::span<const job_rank> members_of(int number) noexcept;
/// TEAM= may name the current team and those it is in; anything else may not even be a team.
[[nodiscard]] bool is_ancestor(const void* handle) noexcept;
void change_team(team& to, const outcome& out);
/// Coarrays that were allocated in it are deallocated.
void end_team(const outcome& out);
void sync_team(team& with, const outcome& out);
/// 0, stat::stopped_image or stat::failed_image.
[[nodiscard]] int image_status(int image, const team& of);

}  // namespace sinew::coarray
