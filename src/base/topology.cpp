#include "sinew/base/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <memory>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::topology {
namespace {

struct destroyer {
  void operator()(hwloc_topology* tree) const noexcept { hwloc_topology_destroy(tree); }
};
using handle = std::unique_ptr<hwloc_topology, destroyer>;

handle read_machine() {
  hwloc_topology_t raw = nullptr;
  SINEW_CHECK(hwloc_topology_init(&raw) == 0, "the machine's topology cannot be read",
              "hwloc_topology_init failed", "Check the installation of hwloc.");
  handle tree(raw);
  SINEW_CHECK(hwloc_topology_load(raw) == 0, "the machine's topology cannot be read",
              "hwloc_topology_load failed", "Try `lstopo`; is /sys mounted?");
  return tree;
}

hwloc_obj_t ancestor(hwloc_topology_t tree, hwloc_obj_type_t type, hwloc_obj_t object) {
  return hwloc_get_ancestor_obj_by_type(tree, type, object);
}

int nearest_numa_node(hwloc_topology_t tree, hwloc_obj_t object) {
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(tree, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (hwloc_bitmap_intersects(node->cpuset, object->cpuset) != 0) {
      return static_cast<int>(node->logical_index);
    }
  }
  return 0;
}

struct machine {
  handle tree = read_machine();
  std::vector<core> cores;

  machine() {
    const std::vector<int> usable = usable_cpu_list();
    // Some virtual machines show processors but no cores.
    const bool has_cores = hwloc_get_nbobjs_by_type(tree.get(), HWLOC_OBJ_CORE) > 0;
    const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    hwloc_obj_t object = nullptr;
    while ((object = hwloc_get_next_obj_by_type(tree.get(), type, object)) != nullptr) {
      core one;
      for (const int cpu : usable) {
        if (hwloc_bitmap_isset(object->cpuset, static_cast<unsigned>(cpu)) != 0) {
          one.cpus.push_back(cpu);
        }
      }
      if (one.cpus.empty()) {
        continue;
      }
      const hwloc_obj_t package = ancestor(tree.get(), HWLOC_OBJ_PACKAGE, object);
      one.package = package != nullptr ? static_cast<int>(package->logical_index) : 0;
      one.numa_node = nearest_numa_node(tree.get(), object);
      cores.push_back(std::move(one));
    }
    if (cores.empty()) {
      cores.push_back({usable, 0, 0});
    }
  }
};

// Never destroyed: threads may ask while the program's statics go.
const machine& this_machine() {
  static const machine& one = *new machine;
  return one;
}

std::string describe(hwloc_obj_t object) {
  char type[64];
  char attributes[256];
  hwloc_obj_type_snprintf(type, sizeof type, object, 1);
  hwloc_obj_attr_snprintf(attributes, sizeof attributes, object, ", ", 0);
  std::string text = type;
  if (object->os_index != HWLOC_UNKNOWN_INDEX) {
    text += " " + std::to_string(object->os_index);
  }
  if (attributes[0] != '\0') {
    text += " (" + std::string(attributes) + ")";
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

const std::vector<core>& cores() { return this_machine().cores; }

int numa_nodes() {
  return std::max(1, hwloc_get_nbobjs_by_type(this_machine().tree.get(), HWLOC_OBJ_NUMANODE));
}

bool bind_thread_to_core(int index) {
  const std::vector<core>& all = cores();
  SINEW_CHECK(index >= 0, "no core has the number " + std::to_string(index),
              "cores are counted from 0", "");
  return bind_thread(all[static_cast<std::size_t>(index) % all.size()].cpus);
}

std::string tree() {
  std::string out;
  print(hwloc_get_root_obj(this_machine().tree.get()), 0, out);
  return out;
}

std::string hwloc_version() {
  const unsigned version = hwloc_get_api_version();
  return std::to_string(version >> 16) + "." + std::to_string((version >> 8) & 0xff) + "." +
         std::to_string(version & 0xff);
}

}  // namespace sinew::topology
