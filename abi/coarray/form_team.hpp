// Statements about teams.
#pragma once

#include "abi/coarray/failure.hpp"
#include "abi/coarray/team.hpp"

namespace sinew::coarray {

/// `new_index` null: members keep their order. Throws sinew::error. Lives for ever, as nothing in
/// the language ends a team. Collective over the current team.
[[nodiscard]] team* form_team(int number, const int* new_index);
void change_team(team& to, const outcome& out);
void end_team(const outcome& out);
void sync_team(team& with, const outcome& out);
/// 0, stat::stopped_image or stat::failed_image.
[[nodiscard]] int image_status(int image, const team& of);

}  // namespace sinew::coarray
