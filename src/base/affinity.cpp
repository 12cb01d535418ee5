// SPDX-License-Identifier: BSD-3-Clause
// The part of topology that needs no hwloc, so that programs which only count processors do not
// pull it in.
#include "sinew/base/affinity.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/cpu_sysfs.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/topology.hpp"

namespace sinew::topology {
namespace {

// Larger than any machine's mask; the kernel copies only what it has. On the stack because
// bind_thread may run between fork and exec.
struct cpu_mask {
  cpu_set_t words[most_cpus / CPU_SETSIZE];
  static constexpr std::size_t size = sizeof(words);

  cpu_mask() noexcept { CPU_ZERO_S(size, words); }
  // By system calls: sched_getaffinity() is about fibers where threads are fibers.
  [[nodiscard]] bool read(int thread = 0) noexcept {
    return ::syscall(SYS_sched_getaffinity, static_cast<long>(thread), size, words) > 0;
  }
  [[nodiscard]] bool bind(int thread) const noexcept {
    return ::syscall(SYS_sched_setaffinity, static_cast<long>(thread), size, words) == 0;
  }
};

}  // namespace

std::vector<int> cpus_of_thread(int thread) {
  cpu_mask mask;
  std::vector<int> result;
  if (mask.read(thread)) {
    for (int cpu = 0; cpu < most_cpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), cpu_mask::size, mask.words)) {
        result.push_back(cpu);
      }
    }
  }
  return result;
}

std::vector<int> usable_cpu_list() {
  std::vector<int> result = cpus_of_thread(0);
  if (result.empty()) {
    result.push_back(0);
  }
  return result;
}

int usable_cpus() noexcept {
  cpu_mask mask;
  const int count = mask.read() ? CPU_COUNT_S(cpu_mask::size, mask.words) : 1;
  return count > 0 ? count : 1;
}

bool bind_thread(int thread, std::span<const int> cpus) noexcept {
  cpu_mask mask;
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= most_cpus) {
      return false;
    }
    CPU_SET_S(static_cast<std::size_t>(cpu), cpu_mask::size, mask.words);
  }
  return !cpus.empty() && mask.bind(thread);
}

bool bind_thread(std::span<const int> cpus) noexcept { return bind_thread(0, cpus); }

int current_cpu() noexcept { return ::sched_getcpu(); }

const std::vector<core>& cores() {
  // Never destroyed: threads may ask while the program's statics go.
  static const auto& all = *new std::vector<core>(read_cores("/sys", usable_cpu_list()));
  return all;
}

int numa_nodes() {
  std::set<int> nodes;
  for (const core& one : cores()) {
    nodes.insert(one.numa_node);
  }
  return static_cast<int>(nodes.size());
}

bool bind_thread_to_core(int index) {
  SINEW_CHECK(index >= 0, "no core has the number " + std::to_string(index),
              "cores are counted from 0", "");
  const std::vector<core>& all = cores();
  return bind_thread(all[static_cast<std::size_t>(index) % all.size()].cpus);
}

}  // namespace sinew::topology
