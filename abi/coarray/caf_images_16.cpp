// SPDX-License-Identifier: BSD-3-Clause
// GCC 16: this_image, num_images and teams. A team is passed as its handle, and the statements have
// STAT= and ERRMSG=.
#include <string>

#include "abi/coarray/failure.hpp"
#include "abi/coarray/form_team.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/team.hpp"

using namespace sinew::coarray;

namespace {

team& team_or_now(void* given) noexcept {
  return given != nullptr ? *static_cast<team*>(given) : *this_job.now;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

/// The image's number in the given team.
int _gfortran_caf_this_image(void* of) {
  ensure_open();
  return team_or_now(of).me() + 1;
}

int _gfortran_caf_num_images(void* of, std::int32_t* number) {
  ensure_open();
  if (number == nullptr || (of == nullptr && this_job.now->number() == *number)) [[likely]] {
    return team_or_now(of).size();
  }
  const auto members = members_of(*number);
  if (members.empty()) {
    die("num_images", "there is no team of number " + std::to_string(*number));
  }
  return static_cast<int>(members.size());
}

void _gfortran_caf_form_team(int number, void** made, const int* new_index, int* stat, char* errmsg,
                             std::size_t length) {
  const outcome out{stat, errmsg, length};
  guarded(out, "form team", [&] {
    team* const formed = form_team(number, new_index);
    *made = formed;
    finish(out, status_of_forming(*formed), "form team");
  });
}

void _gfortran_caf_change_team(void* to, int* stat, char* errmsg, std::size_t length) {
  change_team(*static_cast<team*>(to), {stat, errmsg, length});
}

void _gfortran_caf_end_team(int* stat, char* errmsg, std::size_t length) {
  end_team({stat, errmsg, length});
}

void _gfortran_caf_sync_team(void* with, int* stat, char* errmsg, std::size_t length) {
  sync_team(*static_cast<team*>(with), {stat, errmsg, length});
}

int _gfortran_caf_team_number(void* of) { return team_or_now(of).number(); }

/// Levels of ISO_FORTRAN_ENV as gfortran 16 defines them.
void* _gfortran_caf_get_team(const int* level) {
  constexpr int parent = 1;
  constexpr int current = 2;
  const int wanted = level == nullptr ? current : *level;
  if (wanted == parent) {
    return this_job.now->parent() != nullptr ? this_job.now->parent() : this_job.now;
  }
  return wanted == current ? this_job.now : this_job.first;
}

int _gfortran_caf_image_status(int image, void* of) { return image_status(image, team_or_now(of)); }

}  // extern "C"
#pragma GCC visibility pop
