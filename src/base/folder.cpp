// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/folder.hpp"

#include <algorithm>
#include <system_error>

namespace sinew::base {

std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder) {
  std::error_code unreadable;
  std::vector<std::filesystem::path> entries;
  for (const auto& each : std::filesystem::directory_iterator(folder, unreadable)) {
    entries.push_back(each.path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace sinew::base
