// From an image selector to a rank.
#pragma once

#include "abi/coarray/failure.hpp"
#include "abi/coarray/job.hpp"
#include "abi/coarray/team.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::coarray {

/// The rank of image `image` of team `t`, or -1 after fail(). Hot.
[[nodiscard]] inline job_rank rank_of(const team& t, int image, const outcome& out,
                                      const char* statement);

[[gnu::cold]] void no_such_image(const team& t, int image, const outcome& out,
                                 const char* statement);
/// True after fail(), if the image of that rank has failed.
[[nodiscard, gnu::cold]] bool has_failed(job_rank rank, const outcome& out, const char* statement);

inline job_rank rank_of(const team& t, int image, const outcome& out, const char* statement) {
  if (!t.has(image)) [[unlikely]] {
    no_such_image(t, image, out, statement);
    return -1;
  }
  const job_rank rank = t.rank_of(image);
  SINEW_ASSERT(rank.below(this_job.size));
  if (this_job.somebody_left()) [[unlikely]] {
    if (has_failed(rank, out, statement)) {
      return -1;
    }
  }
  return rank;
}

}  // namespace sinew::coarray
