// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "sinew/base/parse.hpp"

namespace sinew::tool {

std::string time_text(double ns) {
  const char* unit = ns < 1e3 ? "ns" : ns < 1e6 ? "us" : ns < 1e9 ? "ms" : "s";
  const double value = ns < 1e3 ? ns : ns < 1e6 ? ns / 1e3 : ns < 1e9 ? ns / 1e6 : ns / 1e9;
  char text[48];
  std::snprintf(text, sizeof text, "%.4g %s", value, unit);
  return text;
}

std::string amount_text(double bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, "%.4g %s", bytes, units[unit]);
  return text;
}

std::string percent_text(double part, double of) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f %%", of > 0 ? 100 * part / of : 0);
  return text;
}

std::string count_text(double whole) { return std::to_string(static_cast<std::uint64_t>(whole)); }

std::string ranks_text(const std::map<int, double>& by_rank) {
  std::vector<int> ranks;
  for (const auto& [rank, ignored] : by_rank) {
    ranks.push_back(rank);
  }
  return base::ranges_text(ranks);
}

}  // namespace sinew::tool
