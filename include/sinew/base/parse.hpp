// SPDX-License-Identifier: BSD-3-Clause
// Texts to values and back, for settings and command lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::base {

[[nodiscard]] constexpr char upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

/// on/off, true/false, yes/no, 1/0; letters of either case.
[[nodiscard]] std::optional<bool> parse_bool(std::string_view text);

/// The whole text as a decimal number; nothing on overflow or trailing characters.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// As parse_integer, but not negative, with an optional suffix k, M, G or T (powers of 1024; either
/// case; "KiB" and "B" forms too).
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string_view text);

[[nodiscard]] std::optional<double> parse_double(std::string_view text);

/// The shortest exact form: 4096 -> "4k", 5000 -> "5000".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
[[nodiscard]] std::string double_text(double value);

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, char separator);

/// Numbers that ascend, and back: 0 1 2 5 -> "0-2,5". Nothing if the text is none such, or has a
/// number that is not below `end`.
[[nodiscard]] std::string ranges_text(const std::vector<int>& numbers, const char* separator = ",");
[[nodiscard]] std::optional<std::vector<int>> parse_ranges(std::string_view text, int end);

[[nodiscard]] bool is_choice(std::string_view text, std::string_view choices);

/// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
[[nodiscard]] std::size_t edit_distance(std::string_view from, std::string_view to);

}  // namespace sinew::base
