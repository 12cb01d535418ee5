// SPDX-License-Identifier: BSD-3-Clause
// What the ranks have recorded, gathered into one Chrome trace and a page.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace sinew::tool {

/// The value of SINEW_BASE_TRACE for ranks whose trace goes to `file`: an absolute path.
[[nodiscard]] std::string trace_parts(const std::string& file);

/// Writes `file`, and a page beside it (its name with .html for .json), from the parts of `ranks`
/// ranks and removes them. A rank that recorded nothing has none. `ahead_ns` says by how much a
/// rank's clock is ahead of ours. Returns a sentence for the user. Cold.
[[nodiscard]] std::string merge_traces(const std::string& file, int ranks,
                                       const std::function<std::int64_t(int rank)>& ahead_ns);

}  // namespace sinew::tool
