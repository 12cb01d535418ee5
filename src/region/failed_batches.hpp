// SPDX-License-Identifier: BSD-3-Clause
// Which senders' batches of single reductions have failed here since their last mark. A batch has
// no event of its own; the failure is reported by the next one that has (a flush or a mark). Pure.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/region/handle.hpp"

namespace sinew::region {

/// Any thread, if `threaded`. Cold, but for take() of a table that is empty.
class failed_batches {
 public:
  explicit failed_batches(bool threaded) noexcept : threaded_(threaded) {}

  void note(job_rank sender, instance target) {
    SINEW_EXPECT(sender >= 0 && target.exists());
    const base::guard held(lock_, threaded_);
    failed_.insert({sender, target.bits()});
  }
  /// Whether one has failed since the last call.
  [[nodiscard]] bool take(job_rank sender, instance target) {
    SINEW_EXPECT(sender >= 0 && target.exists());
    const base::guard held(lock_, threaded_);
    return failed_.erase({sender, target.bits()}) != 0;
  }

 private:
  const bool threaded_;
  base::lock lock_;
  std::set<std::pair<job_rank, std::uint64_t>> failed_;  ///< by sender and target; guarded by lock_
};

}  // namespace sinew::region
