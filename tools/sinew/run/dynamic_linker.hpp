// SPDX-License-Identifier: BSD-3-Clause
// What the dynamic linker would load for a program, asked of the dynamic linker itself.
#pragma once

#include <string>
#include <vector>

namespace sinew::tool {

struct linked_library {
  std::string name;
  std::string path;  ///< empty: not found
};

struct linkage {
  std::vector<linked_library> libraries;
  /// With `symbols` alone: what no library has, and why libraries do not fit, a line each.
  std::vector<std::string> undefined;
  std::vector<std::string> complaints;
};

enum class asked { libraries, symbols };

/// For this program, or library, in this environment. Starts the program's dynamic linker, which
/// takes a millisecond and runs nothing of the program, and waits for it for a second at most; one
/// that takes longer, a static program and what is no program have nothing to say. Cold.
[[nodiscard]] linkage link(const std::string& program, std::vector<std::string> environment,
                           asked what);

}  // namespace sinew::tool
