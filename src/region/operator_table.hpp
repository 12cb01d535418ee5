// SPDX-License-Identifier: BSD-3-Clause
// The reduction operators that this rank knows, by their numbers. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/region/operators.hpp"

namespace sinew::region {

/// Any thread, if `threaded`. find() is warm.
class operator_table {
 public:
  operator_table(job_rank rank, bool threaded) noexcept : rank_(rank), threaded_(threaded) {}

  /// Again: nothing.
  void add(const operator_entry& e) {
    SINEW_EXPECT(e.id != 0 && e.apply != nullptr && e.replay != nullptr);
    SINEW_EXPECT(e.lhs_bytes != 0 && e.rhs_bytes != 0 && e.entry_bytes > e.rhs_bytes);
    const base::guard held(lock_, threaded_);
    const operator_entry& there = entries_.try_emplace(e.id, e).first->second;
    SINEW_ENSURE(there.lhs_type == e.lhs_type && there.rhs_type == e.rhs_type);
    (void)there;
  }
  /// Valid as long as the table. Throws sinew::error for an operator that was not added here.
  [[nodiscard]] const operator_entry& find(std::uint64_t id) const {
    const base::guard held(lock_, threaded_);
    const auto found = entries_.find(id);
    SINEW_CHECK(found != entries_.end(), "a reduction cannot be made",
                "its operator is not known on rank " + to_string(rank_),
                "call system::add with it on every rank that owns what is reduced");
    SINEW_ENSURE(found->second.id == id);
    return found->second;
  }

 private:
  const job_rank rank_;
  const bool threaded_;
  mutable base::lock lock_;
  std::unordered_map<std::uint64_t, operator_entry> entries_;  ///< guarded by lock_; never shrinks
};

}  // namespace sinew::region
