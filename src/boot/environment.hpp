// SPDX-License-Identifier: BSD-3-Clause
// The environment as the ways in read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sinew/base/ids.hpp"

namespace sinew::boot {

/// A variable that is set and not empty.
[[nodiscard]] std::optional<std::string> variable(const char* name);

/// A variable that must be a whole number of at least `least`. Throws sinew::error that names it.
[[nodiscard]] int number_variable(const char* name, int least);

/// Rank and size from two variables; throws if they contradict each other.
struct rank_and_size {
  int rank = 0;
  int size = 1;
};
[[nodiscard]] rank_and_size rank_variables(const char* rank_name, const char* size_name);

/// 0 to size - 1: who is on the node of a job that has one node.
[[nodiscard]] std::vector<job_rank> all_ranks(int size);

}  // namespace sinew::boot
