// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/topology.hpp"

#include <hwloc.h>

#include <memory>

#include "base/hwloc_tree.hpp"
#include "sinew/base/check.hpp"

namespace sinew::topology {
namespace {

std::string describe(hwloc_obj_t object) {
  char type[64];
  char attributes[256];
  hwloc_obj_type_snprintf(type, sizeof type, object, 1);
  hwloc_obj_attr_snprintf(attributes, sizeof attributes, object, ", ", 0);
  std::string text = type;
  if (object->os_index != HWLOC_UNKNOWN_INDEX) {
    text += ' ';
    text += std::to_string(object->os_index);
  }
  if (attributes[0] != '\0') {
    text.append(" (").append(attributes).append(")");
  }
  return text;
}

// Depth is that of the machine's own hierarchy, a dozen levels at most.
void print(hwloc_obj_t object, std::size_t depth, std::string& out) {
  out += std::string(depth * 2, ' ') + describe(object) + "\n";
  for (hwloc_obj_t node = object->memory_first_child; node != nullptr; node = node->next_sibling) {
    out += std::string(depth * 2 + 2, ' ') + describe(node) + "\n";
  }
  for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
    print(child, depth + 1, out);
  }
}

}  // namespace

tree_handle read_machine(const std::string& description) {
  hwloc_topology_t raw = nullptr;
  SINEW_CHECK(hwloc_topology_init(&raw) == 0, "the machine's topology cannot be read",
              "hwloc_topology_init failed", "check the installation of hwloc");
  tree_handle tree(raw);
  if (!description.empty()) {
    const bool xml = description.front() == '<';
    const int bad = xml ? hwloc_topology_set_xmlbuffer(raw, description.c_str(),
                                                       static_cast<int>(description.size()) + 1)
                        : hwloc_topology_set_synthetic(raw, description.c_str());
    SINEW_CHECK(
        bad == 0, "the described machine cannot be read",
        xml ? "hwloc does not take it for its XML" : "hwloc does not know \"" + description + "\"",
        "see `lstopo --input` and hwloc's synthetic topologies");
  }
  SINEW_CHECK(hwloc_topology_load(raw) == 0, "the machine's topology cannot be read",
              "hwloc_topology_load failed", "try `lstopo`, and look whether /sys is mounted");
  return tree;
}

std::string tree() {
  std::string out;
  const tree_handle machine = read_machine();
  print(hwloc_get_root_obj(machine.get()), 0, out);
  return out;
}

std::string hwloc_version() {
  const unsigned version = hwloc_get_api_version();
  return std::to_string(version >> 16) + "." + std::to_string((version >> 8) & 0xff) + "." +
         std::to_string(version & 0xff);
}

}  // namespace sinew::topology
