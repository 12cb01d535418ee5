// SPDX-License-Identifier: BSD-3-Clause
// What happens to ranks of a simulated job at times that are chosen beforehand.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::sim {

enum class fault_kind : std::uint8_t {
  kill,  ///< the rank's process dies at its first message, wait or sleep from `from_ns` on
  slow,  ///< until `to_ns` each turn of the rank begins by `later_ns` later than it could
  link   ///< until `to_ns` the cable between two nodes carries nothing, or `times` as slowly
};

struct fault {
  fault_kind what = fault_kind::kill;
  int rank = 0;
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::int64_t later_ns = 0;
  std::array<int, 2> ends = {};  ///< nodes, or switches, of the network
  int times = 0;                 ///< 0: nothing

  friend bool operator==(const fault&, const fault&) = default;
};

/// A node that is cut off from the first one for so long is lost, with its ranks.
inline constexpr std::int64_t cut_off_ns = 10'000'000;

/// "kill:2@153000", "slow:1@100000-300000+20000": rank, times in ns; "link:0-1@20000" for good,
/// "link:0-1@20000-50000" for a while, "link:0-1@20000-50000/8" an eighth as fast. Throws
/// sinew::error. Cold.
[[nodiscard]] fault parse_fault(std::string_view text);
[[nodiscard]] std::string to_text(const fault& what);

/// Whether ranks may die of it.
[[nodiscard]] bool may_kill(const fault& what) noexcept;

/// What may be drawn: "ranks" (one dies), "hosts" (all of a node do), "links" (one is cut for good
/// or for a while, or gets slow), "slow" (a rank is).
inline constexpr const char* fault_choices = "ranks|hosts|links|slow";
struct job_facts {
  int ranks = 1;
  int ranks_per_node = 1;
  std::int64_t length_ns = 0;                  ///< of a run without faults
  std::vector<std::array<int, 2>> links = {};  ///< that it uses, by their ends
};
/// The same for the same seed. `choice` is one of fault_choices. Cold.
[[nodiscard]] std::vector<fault> draw_faults(std::string_view choice, std::uint64_t seed,
                                             const job_facts& job);

}  // namespace sinew::sim
