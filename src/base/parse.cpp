// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/parse.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::base {
namespace {

std::string uppercase(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = upper(c);
  }
  return result;
}

// The shift that a suffix of bytes stands for, or nothing.
std::optional<int> suffix_shift(std::string_view suffix) {
  std::string text = uppercase(suffix);
  if (text.empty() || text == "B") {
    return 0;
  }
  const std::size_t letter = std::string_view("KMGT").find(text[0]);
  if (letter == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string rest = text.substr(1);
  if (!rest.empty() && rest != "B" && rest != "IB") {
    return std::nullopt;
  }
  return static_cast<int>(letter + 1) * 10;
}

}  // namespace

std::optional<bool> parse_bool(std::string_view text) {
  const std::string upper_text = uppercase(text);
  for (const char* yes : {"ON", "TRUE", "YES", "1"}) {
    if (upper_text == yes) {
      return true;
    }
  }
  for (const char* no : {"OFF", "FALSE", "NO", "0"}) {
    if (upper_text == no) {
      return false;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_integer(text.substr(0, digits));
  const auto shift = suffix_shift(text.substr(digits));
  if (!number || !shift || *number > (std::numeric_limits<std::int64_t>::max() >> *shift)) {
    return std::nullopt;
  }
  SINEW_ENSURE(*number >= 0);  // it has digits only
  return *number << *shift;
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return value;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::string_view letters = "kMGT";
  std::string suffix;
  for (const char letter : letters) {
    if (bytes == 0 || bytes % 1024 != 0) {
      break;
    }
    bytes /= 1024;
    suffix = letter;
  }
  return std::to_string(bytes) + suffix;
}

std::string double_text(double value) {
  // to_chars takes the shorter form, which is 1e+09 for a billion.
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  char text[64];
  const auto [stop, failure] = std::to_chars(text, text + sizeof text, value);
  return failure == std::errc{} ? std::string(text, stop) : std::to_string(value);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

std::string join(const std::vector<std::string>& parts, char separator) {
  std::string text;
  for (const std::string& each : parts) {
    text += (&each == &parts.front() ? "" : std::string(1, separator)) + each;
  }
  return text;
}

std::string ranges_text(const std::vector<int>& numbers, const char* separator) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    text += (text.empty() ? "" : separator) + std::to_string(numbers[i]);
    if (last > i) {
      text += "-" + std::to_string(numbers[last]);
    }
    i = last + 1;
  }
  return text;
}

std::optional<std::vector<int>> parse_ranges(std::string_view text, int end) {
  std::vector<int> numbers;
  if (text.empty()) {
    return numbers;
  }
  for (const std::string& range : split(text, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = parse_integer(range.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_integer(range.substr(dash + 1));
    if (!first || !last || *first < (numbers.empty() ? 0 : numbers.back() + 1) || *last < *first ||
        *last >= end) {
      return std::nullopt;
    }
    for (auto n = *first; n <= *last; ++n) {
      numbers.push_back(static_cast<int>(n));
    }
  }
  SINEW_ENSURE(std::is_sorted(numbers.begin(), numbers.end()));
  return numbers;
}

bool is_choice(std::string_view text, std::string_view choices) {
  const auto parts = split(choices, '|');
  return std::find(parts.begin(), parts.end(), text) != parts.end();
}

std::size_t edit_distance(std::string_view from, std::string_view to) {
  // Row i holds the distances of from[0, i) to every prefix of `to`; a swap looks two rows back.
  std::vector<std::size_t> before;
  std::vector<std::size_t> last(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::vector<std::size_t> row(to.size() + 1);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = std::move(last);
    last = std::move(row);
  }
  SINEW_ENSURE(last.back() <= std::max(from.size(), to.size()));
  return last.back();
}

}  // namespace sinew::base
