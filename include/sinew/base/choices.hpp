// SPDX-License-Identifier: BSD-3-Clause
// What a setting may be set to, from the table whose rows have those names.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace sinew::base {

/// The names of rows `First` to `Last - 1` of a constexpr table, separated by '|'.
template <const auto& Table, std::size_t First = 0, std::size_t Last = std::size(Table)>
inline constexpr auto choices_of = [] {
  constexpr std::size_t length = [] {
    std::size_t sum = 0;
    for (std::size_t row = First; row < Last; ++row) {
      sum += std::string_view(Table[row].name).size() + 1;
    }
    return sum;
  }();
  std::array<char, length> text{};
  auto to = text.begin();
  for (std::size_t row = First; row < Last; ++row) {
    to = std::copy_n(Table[row].name, std::string_view(Table[row].name).size(), to);
    *to++ = row + 1 == Last ? '\0' : '|';
  }
  return text;
}();

}  // namespace sinew::base
