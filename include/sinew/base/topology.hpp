// The machine's processors: which of them this process may use, and how they hang together.
#pragma once

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

// With hwloc: each call reads the machine (5-20 ms). Any thread. Cold.

/// A tree for people, one object a line, indented: package, caches, cores, processors. Throws
/// sinew::error if the machine cannot be read.
[[nodiscard]] std::string tree();

/// hwloc's version, "2.9.0".
[[nodiscard]] std::string hwloc_version();

}  // namespace sinew::topology
