// SPDX-License-Identifier: BSD-3-Clause
// From an image selector to a rank.
#pragma once

#include <algorithm>
#include <exception>
#include <initializer_list>

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
/// As far as this image has been told.
[[nodiscard]] bool is_known_failed(job_rank rank);
/// True after fail(), if the image of that rank has failed.
[[nodiscard, gnu::cold]] bool has_failed(job_rank rank, const outcome& out, const char* statement);

/// Whether the process of that rank has died.
[[nodiscard]] bool has_died(job_rank rank) noexcept;
/// The same of a rank of another node, whose memory is gone with it: what has just come from there
/// means nothing.
[[nodiscard]] inline bool memory_is_lost(job_rank rank) noexcept {
  return !this_job.engine->maps(rank) && has_died(rank);
}
/// fail(): the image of that rank has failed.
[[gnu::cold]] void tell_failed(job_rank rank, const outcome& out, const char* statement);

/// The end of a statement that has reached into that image's memory.
inline void end_at(job_rank rank, const outcome& out, const char* statement) {
  if (memory_is_lost(rank)) [[unlikely]] {
    tell_failed(rank, out, statement);
  } else {
    out.good();
  }
}
/// Runs the body of a statement that reaches into these images' memory, also what no heap holds,
/// and ends it.
template <class Body>
void at_images(std::initializer_list<job_rank> ranks, const outcome& out, const char* statement,
               Body&& body) {
  guarded(out, statement, [&] {
    const auto lost = [&] { return std::find_if(ranks.begin(), ranks.end(), has_died); };
    try {
      body();
    } catch (const std::exception&) {
      if (lost() == ranks.end()) {
        throw;
      }  // else bounds and pointers that meant nothing are to blame
    }
    if (lost() == ranks.end()) {
      out.good();
    } else {
      tell_failed(*lost(), out, statement);
    }
  });
}

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
