// SPDX-License-Identifier: BSD-3-Clause
// Results as JSON, the file of `sinew bench --json`. Pure.
#pragma once

#include <string>
#include <string_view>

#include "sinew/bench/stats.hpp"

namespace sinew::tool::stats {

/// JSON has no infinities: null stands for what is not a number.
[[nodiscard]] std::string json_number(double value);
/// An object; what looks like a number is one.
[[nodiscard]] std::string json_parameters(const parameters& params);

/// The array "results" of schema 2: one object per row and subject, with all its samples. A subject
/// "sinew:hash" is the subject "sinew" with the parameter "engine"; "paper:fult" is the subject
/// "paper" with the parameter "series".
[[nodiscard]] std::string json_results(const result_set& results);

}  // namespace sinew::tool::stats
