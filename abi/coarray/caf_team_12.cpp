// SPDX-License-Identifier: BSD-3-Clause
// GCC 8 to 15: teams.
#include "abi/coarray/failure.hpp"
#include "abi/coarray/form_team.hpp"
#include "abi/coarray/team.hpp"

using namespace sinew::coarray;

#pragma GCC visibility push(default)
extern "C" {

void _gfortran_caf_form_team(int number, void** made, int) {
  guarded({}, "form team", [&] { *made = form_team(number, nullptr); });
}

void _gfortran_caf_change_team(void** to, int) { change_team(*static_cast<team*>(*to), {}); }

void _gfortran_caf_end_team(void*) { end_team({}); }

void _gfortran_caf_sync_team(void** with, int) { sync_team(*static_cast<team*>(*with), {}); }

int _gfortran_caf_team_number(void* of) {
  return (of != nullptr ? static_cast<team*>(of) : this_job.now)->number();
}

int _gfortran_caf_image_status(int image, void* of) {
  // An absent team is -1 in some versions, null in others.
  const auto value = static_cast<int>(reinterpret_cast<std::intptr_t>(of));
  return image_status(image, value == 0 || value == -1 ? *this_job.now : *static_cast<team*>(of));
}

}  // extern "C"
#pragma GCC visibility pop
