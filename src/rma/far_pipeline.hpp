// SPDX-License-Identifier: BSD-3-Clause
// Several requests to ranks of other nodes under way at once.
#pragma once

#include <array>
#include <cstddef>

#include "rma/far.hpp"
#include "sinew/base/check.hpp"

namespace sinew::rma {

/// Requests that are used in turn; one that is used again has been answered before.
class far_ranks::pipeline {
 public:
  explicit pipeline(far_ranks& of) noexcept : of_(of) {}
  /// Waits, since answers are written to what the requests name.
  ~pipeline() { finish(); }
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  /// The next one, listed: it must be sent. Its answer is empty unless the caller says otherwise.
  [[nodiscard]] request& next(job_rank from) {
    // A rank with which nobody can speak is an error before anything is listed.
    (void)of_.meet(from);
    request& r = all_[turn_++ % all_.size()];
    if (r.id != 0) {
      of_.await(r);
    }
    r.into = nullptr;
    r.bytes = 0;
    SINEW_ASSERT(r.runs.empty());
    of_.enlist(r, from);
    of_.end_if_dead(r.id, from);
    return r;
  }
  void finish() {
    for (request& r : all_) {
      if (r.id != 0) {
        of_.await(r);
      }
    }
  }

 private:
  static constexpr std::size_t depth = 8;
  far_ranks& of_;
  std::size_t turn_ = 0;
  std::array<request, depth> all_{};
};

}  // namespace sinew::rma
