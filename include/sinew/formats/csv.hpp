// SPDX-License-Identifier: BSD-3-Clause
// Rows of fields between commas, as spreadsheets write them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::formats {

/// Calls `take` with the fields of each row that has any, blanks around them removed; a field in
/// quotes may hold commas, and "" for a quote. Lines that begin with # are comments. Lines count
/// from 1. Throws "where:line is malformed (why)" where quotes do not end on their line.
void for_each_row(std::string_view text, const std::string& where,
                  const std::function<void(std::size_t, const std::vector<std::string>&)>& take);

/// In quotes where it has to be.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace sinew::formats
