#include "abi/coarray/images.hpp"

#include <string>

#include "abi/coarray/gfortran.hpp"
#include "sinew/boot/survival.hpp"

namespace sinew::coarray {

void no_such_image(const team& t, int image, const outcome& out, const char* statement) {
  fail(out, stat::other, statement,
       "image " + std::to_string(image) + " does not exist (the team has images 1 to " +
           std::to_string(t.size()) + ")");
}

bool has_failed(job_rank rank, const outcome& out, const char* statement) {
  if (this_job.engine->load<std::uint64_t>(this_job.status_of(rank)) != image_words::failed) {
    return false;
  }
  tell_failed(rank, out, statement);
  return true;
}

bool has_died(job_rank rank) noexcept {
  const boot::survival* const known = this_job.runtime->session().survivors();
  return known != nullptr && known->is_dead(rank, known->deaths());
}

void tell_failed(job_rank rank, const outcome& out, const char* statement) {
  fail(out, stat::failed_image, statement,
       "image " + std::to_string(this_job.now->image_of(rank)) + " has failed");
}

}  // namespace sinew::coarray
