// SPDX-License-Identifier: BSD-3-Clause
// hwloc's tree of a machine, for the files of this module that include hwloc.
#pragma once

#include <hwloc.h>

#include <memory>
#include <string>

namespace sinew::topology {

struct tree_destroyer {
  void operator()(hwloc_topology* tree) const noexcept { hwloc_topology_destroy(tree); }
};
using tree_handle = std::unique_ptr<hwloc_topology, tree_destroyer>;

/// "": this machine. Else as memory_map::described(). Throws sinew::error.
[[nodiscard]] tree_handle read_machine(const std::string& description = "");

}  // namespace sinew::topology
