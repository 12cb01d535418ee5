// The machine's processors: which of them this process may use, and how they hang together.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace sinew::topology {

// Without hwloc: cheap, at most a few microseconds.

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

// With hwloc: the first of these calls reads the machine (milliseconds), later ones do not. Any
// thread. Cold. The answers describe the processors usable when the machine was first read.

/// One core: its hardware threads, and the NUMA node its memory is near to.
struct core {
  std::vector<int> cpus;
  int numa_node = 0;
  int package = 0;
};

/// Cores of which at least one processor is usable; `cpus` holds only usable ones. Neighbours in
/// the machine are neighbours here.
[[nodiscard]] const std::vector<core>& cores();

[[nodiscard]] int numa_nodes();

/// Restricts the calling thread to core `index` modulo the number of cores.
[[nodiscard]] bool bind_thread_to_core(int index);

/// A tree for people, one object a line, indented: package, caches, cores, processors.
[[nodiscard]] std::string tree();

/// hwloc's version, "2.9.0".
[[nodiscard]] std::string hwloc_version();

}  // namespace sinew::topology
