// SPDX-License-Identifier: BSD-3-Clause
// What happens to ranks of a simulated job at times that are chosen beforehand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::sim {

enum class fault_kind : std::uint8_t {
  kill,  ///< the rank's process dies at its first message, wait or sleep from `from_ns` on
  slow   ///< until `to_ns` each turn of the rank begins by `later_ns` later than it could
};

struct fault {
  fault_kind what = fault_kind::kill;
  int rank = 0;
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::int64_t later_ns = 0;

  friend bool operator==(const fault&, const fault&) = default;
};

/// "kill:2@153000", "slow:1@100000-300000+20000": rank, times in ns. Throws sinew::error. Cold.
[[nodiscard]] fault parse_fault(std::string_view text);
[[nodiscard]] std::string to_text(const fault& what);

/// What may be drawn: "ranks" (one dies), "hosts" (all of a node do), "slow".
inline constexpr const char* fault_choices = "ranks|hosts|slow";
struct job_facts {
  int ranks = 1;
  int ranks_per_node = 1;
  std::int64_t length_ns = 0;  ///< of a run without faults
};
/// The same for the same seed. `choice` is one of fault_choices. Cold.
[[nodiscard]] std::vector<fault> draw_faults(std::string_view choice, std::uint64_t seed,
                                             const job_facts& job);

}  // namespace sinew::sim
