// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/images.hpp"

#include <string>

#include "abi/coarray/gfortran.hpp"
#include "sinew/core/losses.hpp"

namespace sinew::coarray {

void no_such_image(const team& t, int image, const outcome& out, const char* statement) {
  fail(out, stat::other, statement,
       "image " + std::to_string(image) + " does not exist (the team has images 1 to " +
           std::to_string(t.size()) + ")");
}

bool is_known_failed(job_rank rank) {
  return this_job.engine->load<std::uint64_t>(this_job.status_of(rank)) == image_words::failed;
}

bool has_failed(job_rank rank, const outcome& out, const char* statement) {
  if (!is_known_failed(rank)) {
    return false;
  }
  tell_failed(rank, out, statement);
  return true;
}

bool has_died(job_rank rank) noexcept { return core::losses::of(*this_job.runtime).is_dead(rank); }

void tell_failed(job_rank rank, const outcome& out, const char* statement) {
  fail(out, stat::failed_image, statement,
       "image " + std::to_string(this_job.now->image_of(rank)) + " has failed");
}

}  // namespace sinew::coarray
