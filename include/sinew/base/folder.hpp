// SPDX-License-Identifier: BSD-3-Clause
// What lies in a folder.
#pragma once

#include <filesystem>
#include <vector>

namespace sinew::base {

/// Paths of its entries in alphabetical order; none if it cannot be read. Cold.
[[nodiscard]] std::vector<std::filesystem::path> folder_entries(
    const std::filesystem::path& folder);

}  // namespace sinew::base
