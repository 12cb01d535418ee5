// SPDX-License-Identifier: BSD-3-Clause
// How often the kernel has killed processes because memory ran out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sinew::tool {

/// The kernel's counter of such kills: that of this process's control group, of version 2 or 1, or
/// where there is none that of the whole machine. Grade: cold.
class memory_kills {
 public:
  /// `root` stands before /proc and /sys (for tests).
  explicit memory_kills(std::string root = "");

  /// Whether there have been such kills, one or more, since this was made or last asked.
  [[nodiscard]] bool rose();

 private:
  std::string file_;
  std::optional<std::uint64_t> last_;
};

}  // namespace sinew::tool
