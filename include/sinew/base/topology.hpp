// SPDX-License-Identifier: BSD-3-Clause
// The machine's processors: which of them this process may use, and how they hang together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinew::topology {

// Without hwloc: cheap.

/// Processors (hardware threads) this process may run on, by operating-system number, ascending.
/// Asked anew at each call. Cold.
[[nodiscard]] std::vector<int> usable_cpu_list();

/// How many they are, at least 1. Cold, but only one system call.
[[nodiscard]] int usable_cpus() noexcept;

/// Restricts the calling thread (and what it starts) to these processors. Only a system call: may
/// be used between fork and exec. False if the system refuses or the list is empty.
[[nodiscard]] bool bind_thread(std::span<const int> cpus) noexcept;

/// Processor on which the caller runs at this moment, or -1. Hot.
[[nodiscard]] int current_cpu() noexcept;

/// One core: its usable hardware threads, and the memory and socket it belongs to, all by
/// operating-system number.
struct core {
  std::vector<int> cpus;
  int numa_node = 0;
  int package = 0;
};

/// Cores of which at least one processor is usable. Neighbours in the machine are neighbours here.
/// The first call reads a few of the kernel's files (a fraction of a millisecond) and its
/// answer is kept: it describes what was usable then. Any thread. Cold.
[[nodiscard]] const std::vector<core>& cores();

/// NUMA nodes among cores(). Cold.
[[nodiscard]] int numa_nodes();

/// Restricts the calling thread to core `index` modulo the number of cores. Cold.
[[nodiscard]] bool bind_thread_to_core(int index);

// With hwloc: each call reads the machine (5-20 ms) unless it says otherwise. Any thread. Cold.

/// A tree for people, one object a line, indented: package, caches, cores, processors. Throws
/// sinew::error if the machine cannot be read.
[[nodiscard]] std::string tree();

/// hwloc's version, "2.9.0".
[[nodiscard]] std::string hwloc_version();

/// Memory and the processors that are nearest to it, all by operating-system number.
struct memory_node {
  int number = 0;
  int package = -1;  ///< -1: of no single one
  std::uint64_t bytes = 0;
  std::vector<int> cpus;  ///< may be none: memory without processors
};

/// A cache that holds data, and who shares it.
struct data_cache {
  int level = 0;
  std::uint64_t bytes = 0;
  std::vector<int> cpus;
};

/// From where a figure comes.
enum class origin : std::uint8_t {
  estimate,    ///< by locality: the same node, the same package, another package
  distances,   ///< the system's matrix of relative distances between nodes
  attributes,  ///< the firmware's figures for pairs of processors and memory
};

/// How near a node's memory is to some processors. 1 is the best pair of the machine.
struct nearness {
  double bandwidth = 1;  ///< a share of the best
  double latency = 1;    ///< a multiple of the best
  origin bandwidth_from = origin::estimate;
  origin latency_from = origin::estimate;
};

/// What hwloc knows of a machine's memory. A value; questions are cheap once it is made.
class memory_map {
 public:
  /// This machine: read once (5-20 ms), and kept. HWLOC_SYNTHETIC and HWLOC_XMLFILE make it
  /// another. Throws sinew::error if it cannot be read.
  [[nodiscard]] static const memory_map& of_machine();
  /// A machine as hwloc describes it: XML if it begins with '<', else a synthetic one such as
  /// "pack:2 [numa] core:4 pu:2". Throws sinew::error for what is neither.
  [[nodiscard]] static memory_map described(const std::string& text);

  [[nodiscard]] const std::vector<memory_node>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const std::vector<data_cache>& caches() const noexcept { return caches_; }
  /// Of `memory` to the processors of node `from`, both by number. A node that is not known is
  /// taken for the first.
  [[nodiscard]] const nearness& between(int from, int memory) const noexcept;
  /// Level of the smallest cache that both processors share; 0: none.
  [[nodiscard]] int shared_cache(int cpu, int other) const noexcept;
  /// The nodes and how near they are, a line each, for people.
  [[nodiscard]] std::string text() const;

 private:
  struct reader;
  [[nodiscard]] std::size_t index_of(int number) const noexcept;
  std::vector<memory_node> nodes_;  ///< never empty
  std::vector<data_cache> caches_;  ///< smallest first
  std::vector<nearness> near_;      ///< [from][memory]
};

}  // namespace sinew::topology
