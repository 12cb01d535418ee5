// SPDX-License-Identifier: BSD-3-Clause
// The back-ends of the fabric: one table, and the choice among its rows.
// docs/internals/back-ends.md says how to write one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sinew/fabric/fabric.hpp"
#include "sinew/fabric/network.hpp"

namespace sinew::fabric {

/// Which ranks a back-end can reach: those of its process, of its node, all of the job.
enum class reach : std::uint8_t { process, node, job };

// How a back-end is opened, each by what it reaches. Cold; all throw.

/// All endpoints of a process at once.
using open_in_process = std::vector<std::unique_ptr<endpoint>> (*)(int ranks, bool threads);
/// This rank's endpoint over memory that the ranks of a node share.
struct open_on_node {
  std::size_t (*bytes_per_rank)(int local_size, int started);
  std::unique_ptr<endpoint> (*open)(const node_memory& where, bool threads);
};
/// This rank's network, whose address the other ranks are told.
using open_network = std::shared_ptr<network> (*)(const network_options& options);

/// A row. A test or a tool may hand one of its own to core::runtime::open().
struct back_end {
  const char* name;   ///< of its folder, in SINEW_FABRIC_BACK_ENDS
  const char* about;  ///< one line, for people
  std::variant<open_in_process, open_on_node, open_network> open;
  /// Whether it can be opened here, as far as that shows before it is tried. Warm.
  bool (*usable)() = [] { return true; };
  /// The same for people: "yes: how", "no: why". Cold.
  std::string (*state)() = [] { return std::string("yes"); };

  [[nodiscard]] reach reaches() const noexcept { return static_cast<reach>(open.index()); }
};

/// The table. The first that reaches far enough and can be used is taken.
[[nodiscard]] std::span<const back_end> back_ends() noexcept;
/// Those that SINEW_FABRIC_BACK_ENDS names, in its order; if it names none, the table. Cold.
[[nodiscard]] std::vector<back_end> wanted_back_ends();
/// The first of `among` that reaches so far and is usable; if none is usable, the first that
/// reaches so far, whose opening says why it cannot be used. Throws if none reaches so far. Cold.
[[nodiscard]] const back_end& choose(std::span<const back_end> among, reach far);

}  // namespace sinew::fabric
