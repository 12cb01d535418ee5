// SPDX-License-Identifier: BSD-3-Clause
// Memory nodes, caches and distances, as hwloc tells them; locality stands in for what it does not.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>
#include <utility>

#include "base/hwloc_tree.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/topology.hpp"

namespace sinew::topology {
namespace {

/// Where nothing is known: typical of servers with several nodes a package and two packages.
constexpr nearness same_package{0.8, 1.3};
constexpr nearness other_package{0.55, 1.8};

std::vector<int> numbers_of(hwloc_const_cpuset_t set) {
  std::vector<int> all;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) {
    all.push_back(cpu);
  }
  return all;
}

int number_of(hwloc_obj_t object) {
  return static_cast<int>(object->os_index != HWLOC_UNKNOWN_INDEX ? object->os_index
                                                                  : object->logical_index);
}

}  // namespace

struct memory_map::reader {
  tree_handle tree;
  std::vector<hwloc_obj_t> objects{};  ///< of the nodes
  memory_map map{};

  void read() {
    read_nodes();
    read_caches();
    estimate();
    take_distances();
    take_attributes();
  }

  void read_nodes() {
    for (hwloc_obj_t o = nullptr;
         (o = hwloc_get_next_obj_by_type(tree.get(), HWLOC_OBJ_NUMANODE, o)) != nullptr;) {
      const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(tree.get(), HWLOC_OBJ_PACKAGE, o);
      objects.push_back(o);
      map.nodes_.push_back({number_of(o), package != nullptr ? number_of(package) : -1,
                            o->attr->numanode.local_memory, numbers_of(o->cpuset)});
    }
    if (map.nodes_.empty()) {  // hwloc gives every machine one; nobody below has to ask
      map.nodes_.emplace_back();
    }
    map.near_.resize(map.nodes_.size() * map.nodes_.size());
    SINEW_ENSURE(!map.nodes_.empty() && objects.size() <= map.nodes_.size());
  }

  void read_caches() {
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                        HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
      for (hwloc_obj_t o = nullptr;
           (o = hwloc_get_next_obj_by_type(tree.get(), type, o)) != nullptr;) {
        map.caches_.push_back(
            {static_cast<int>(o->attr->cache.depth), o->attr->cache.size, numbers_of(o->cpuset)});
      }
    }
  }

  void estimate() {
    const std::size_t n = map.nodes_.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const int package = map.nodes_[i].package;
        map.near_[i * n + j] = i == j                                              ? nearness{}
                               : package != -1 && package == map.nodes_[j].package ? same_package
                                                                                   : other_package;
      }
    }
  }

  /// A matrix over all nodes, if there is one: the system's (ACPI's SLIT) or a user's.
  void take_distances() {
    take_distances(HWLOC_DISTANCES_KIND_MEANS_LATENCY,
                   [](nearness& n, double value, double least, double) {
                     n.latency = value / least;
                     n.latency_from = origin::distances;
                   });
    take_distances(HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH,
                   [](nearness& n, double value, double, double most) {
                     n.bandwidth = value / most;
                     n.bandwidth_from = origin::distances;
                   });
  }

  template <class Set>
  void take_distances(unsigned long kind, Set set) {
    unsigned found = 1;
    hwloc_distances_s* matrix = nullptr;
    if (hwloc_distances_get_by_type(tree.get(), HWLOC_OBJ_NUMANODE, &found, &matrix, kind, 0) !=
            0 ||
        found == 0) {
      return;
    }
    const std::size_t n = objects.size();
    std::vector<double> values(n * n, 0);
    std::vector<std::size_t> at;
    at.reserve(matrix->nbobjs);
    for (unsigned i = 0; i < matrix->nbobjs; ++i) {
      at.push_back(static_cast<std::size_t>(
          std::find(objects.begin(), objects.end(), matrix->objs[i]) - objects.begin()));
    }
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t j = 0; j < at.size(); ++j) {
        if (at[i] < n && at[j] < n) {
          values[at[i] * n + at[j]] = static_cast<double>(matrix->values[i * at.size() + j]);
        }
      }
    }
    hwloc_distances_release(tree.get(), matrix);
    apply(values, set);
  }

  void take_attributes() {
    take_attribute(HWLOC_MEMATTR_ID_BANDWIDTH, [](nearness& n, double value, double, double most) {
      n.bandwidth = value / most;
      n.bandwidth_from = origin::attributes;
    });
    take_attribute(HWLOC_MEMATTR_ID_LATENCY, [](nearness& n, double value, double least, double) {
      n.latency = value / least;
      n.latency_from = origin::attributes;
    });
  }

  template <class Set>
  void take_attribute(hwloc_memattr_id_t which, Set set) {
    const std::size_t n = objects.size();
    std::vector<double> values(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      hwloc_location from{};
      from.type = HWLOC_LOCATION_TYPE_CPUSET;
      from.location.cpuset = objects[i]->cpuset;
      for (std::size_t j = 0; j < n && !map.nodes_[i].cpus.empty(); ++j) {
        hwloc_uint64_t value = 0;
        if (hwloc_memattr_get_value(tree.get(), which, objects[j], &from, 0, &value) == 0) {
          values[i * n + j] = static_cast<double>(value);
        }
      }
    }
    apply(values, set);
  }

  /// Firmware often tells local pairs only: beside estimates of the others their scale means
  /// nothing, so a matrix counts for pairs of a row whose local pair and another it knows, or for
  /// a machine of one node.
  template <class Set>
  void apply(const std::vector<double>& values, Set set) {
    const std::size_t n = objects.size();
    SINEW_EXPECT(values.size() == n * n && values.size() <= map.near_.size());
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (const double value : values) {
      if (value > 0) {
        least = std::min(least, value);
        most = std::max(most, value);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * n);
      const auto known = std::count_if(row, row + static_cast<std::ptrdiff_t>(n),
                                       [](double value) { return value > 0; });
      if (known < 2 && n > 1) {
        continue;
      }
      for (std::size_t j = 0; j < n; ++j) {
        if (values[i * n + j] > 0) {
          set(map.near_[i * n + j], values[i * n + j], least, most);
        }
      }
    }
  }
};

const memory_map& memory_map::of_machine() {
  // Never destroyed: threads may ask while the program's statics go.
  static const auto& map = *new memory_map([] {
    reader r{read_machine()};
    r.read();
    return std::move(r.map);
  }());
  return map;
}

memory_map memory_map::described(const std::string& text) {
  reader r{read_machine(text.empty() ? " " : text)};
  r.read();
  return std::move(r.map);
}

std::size_t memory_map::index_of(int number) const noexcept {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].number == number) {
      return i;
    }
  }
  return 0;
}

const nearness& memory_map::between(int from, int memory) const noexcept {
  return near_[index_of(from) * nodes_.size() + index_of(memory)];
}

int memory_map::shared_cache(int cpu, int other) const noexcept {
  const auto holds = [](const data_cache& c, int which) {
    return std::find(c.cpus.begin(), c.cpus.end(), which) != c.cpus.end();
  };
  const auto found = std::find_if(caches_.begin(), caches_.end(), [&](const data_cache& c) {
    return holds(c, cpu) && holds(c, other);
  });
  return found == caches_.end() ? 0 : found->level;
}

std::string memory_map::text() const {
  std::string out =
      "Memory nodes, seen from the processors of each: a share of the best bandwidth, "
      "a multiple of the\nbest latency; ~ where it is estimated by locality\n";
  char line[128];
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::snprintf(line, sizeof line, "  node %d (%zu processors, %llu MiB):", nodes_[i].number,
                  nodes_[i].cpus.size(), static_cast<unsigned long long>(nodes_[i].bytes >> 20));
    out += line;
    for (std::size_t j = 0; j < nodes_.size(); ++j) {
      const nearness& n = near_[i * nodes_.size() + j];
      std::snprintf(line, sizeof line, "  to %d %s%.2f %s%.2f", nodes_[j].number,
                    n.bandwidth_from == origin::estimate ? "~" : "", n.bandwidth,
                    n.latency_from == origin::estimate ? "~" : "", n.latency);
      out += line;
    }
    out += '\n';
  }
  return out;
}

}  // namespace sinew::topology
