// SPDX-License-Identifier: BSD-3-Clause
// What a job runs on, as every rank knows it after tasks::start(): processors, memories, and how
// near they are to each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/event/processor.hpp"

namespace sinew::event {

struct processor_info {
  processor where;
  int numa_node;  ///< by the system's number; of a worker that is not bound: of the first core
  std::uint32_t kind = 0;  ///< machine::kinds
};

enum class memory_kind : std::uint8_t {
  heap,       ///< of one rank
  symmetric,  ///< a rank's part of the symmetric heap: every rank of the node maps it
  global,     ///< striped over all ranks
};

struct memory_info {
  memory_kind kind;
  job_rank rank;  ///< -1: of all
};

/// How near, for ranks of one node. 1 is the best there is.
///
/// Between memory nodes: what hwloc knows (the firmware's figures, else the system's matrix of
/// distances), else an estimate by locality. A rank's memory is taken to be where its processors
/// are. Another rank's private memory costs the kernel's copy as well, which is always an estimate.
/// Striped memory is the mean over its stripes.
struct affinity {
  double bandwidth;  ///< a share of the best
  double latency;    ///< a multiple of the best
  bool estimated;    ///< one of the two, wholly or in part
};

struct machine {
  int ranks = 0;
  std::vector<processor_info> processors;  ///< by rank, then number
  std::vector<memory_info> memories;
  /// Of processors, as programs have named them (tasks::open); the first is that of all others.
  std::vector<std::string> kinds = {"worker"};
  /// Of the node. Null: this process's machine, read when it is first asked for (5-20 ms).
  const topology::memory_map* map = nullptr;

  /// Throws sinew::error if the machine has to be read and cannot be. Cold the first time.
  [[nodiscard]] affinity between(const processor_info& p, const memory_info& m) const;
  /// Of a copy by a processor of `from`'s rank (for striped memory: of rank 0).
  [[nodiscard]] affinity between(const memory_info& from, const memory_info& to) const;
  /// The processors of a kind, by rank, then number; none if nobody has opened any.
  [[nodiscard]] std::vector<processor> of_kind(std::string_view kind) const;
  /// The memory node of a rank's processors.
  [[nodiscard]] int node_of(job_rank rank) const noexcept;

 private:
  [[nodiscard]] affinity of_rank(const processor_info& p, job_rank rank, bool is_private) const;
};

}  // namespace sinew::event
