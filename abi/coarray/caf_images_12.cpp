// SPDX-License-Identifier: BSD-3-Clause
// GCC 8 to 15: this_image and num_images; teams are in caf_team_12.cpp.
#include "abi/coarray/job.hpp"
#include "abi/coarray/team.hpp"
#include "sinew/base/check.hpp"

using namespace sinew::coarray;
using sinew::job_rank;

namespace {

team& ancestor(int distance) noexcept {
  team* t = this_job.now;
  for (; distance > 0 && t->parent() != nullptr; --distance) {
    t = t->parent();
  }
  SINEW_ENSURE(t != nullptr);
  return *t;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int _gfortran_caf_this_image(int distance) {
  ensure_open();
  return (distance == 0 ? *this_job.now : ancestor(distance)).me() + 1;
}

int _gfortran_caf_num_images(int distance, int failed) {
  ensure_open();
  const team& t = distance == 0 ? *this_job.now : ancestor(distance);
  if (failed < 0) [[likely]] {
    return t.size();
  }
  int gone = 0;
  for (const job_rank r : t.ranks()) {
    gone +=
        this_job.engine->load<std::uint64_t>(this_job.status_of(r)) == image_words::failed ? 1 : 0;
  }
  return failed != 0 ? gone : t.size() - gone;
}

}  // extern "C"
#pragma GCC visibility pop
