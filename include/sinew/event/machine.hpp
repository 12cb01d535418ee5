// What a job runs on, as every rank knows it after tasks::start(): processors, memories, and how
// near they are to each other.
#pragma once

#include <cstdint>
#include <vector>

#include "sinew/event/processor.hpp"

namespace sinew::event {

struct processor_info {
  processor where;
  int numa_node;  ///< by the system's number; of a worker that is not bound: of the first core
};

enum class memory_kind : std::uint8_t {
  heap,       ///< of one rank
  symmetric,  ///< a rank's part of the symmetric heap: every rank of the node maps it
  global,     ///< striped over all ranks
};

struct memory_info {
  memory_kind kind;
  int rank;  ///< -1: of all
};

/// How near: estimated from where things are, not measured. 1 is the best there is.
struct affinity {
  double bandwidth;  ///< a share of the best
  double latency;    ///< a multiple of the best
};

struct machine {
  int ranks = 0;
  std::vector<processor_info> processors;  ///< by rank, then number
  std::vector<memory_info> memories;

  [[nodiscard]] affinity between(const processor_info& p, const memory_info& m) const noexcept;
};

}  // namespace sinew::event
