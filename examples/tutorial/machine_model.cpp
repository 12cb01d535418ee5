// SPDX-License-Identifier: BSD-3-Clause
// What the job runs on, as a program sees it: processors with their kinds, memories, and how near
// they are to each other.
#include <cstdio>

#include "sinew/region/job.hpp"

using sinew::event::memory_kind;

int main() {
  // Two further workers on each rank, which run only tasks that are sent to them.
  sinew::job job({.workers = 1, .kinds = {{"io", 2}}});
  job.start();
  const auto& machine = job.tasks().all();
  if (job.rank() == 0) {
    for (const auto& p : machine.processors) {
      std::printf("rank %d, processor %u: %s, memory node %d\n", p.where.rank().value(),
                  p.where.index(), machine.kinds[p.kind].c_str(), p.numa_node);
    }
    for (const auto& m : machine.memories) {
      const auto near = machine.between(machine.processors.front(), m);
      std::printf("%s memory of rank %d: %.2f of the best bandwidth\n",
                  m.kind == memory_kind::heap        ? "private"
                  : m.kind == memory_kind::symmetric ? "symmetric"
                                                     : "striped",
                  m.rank.value(), near.bandwidth);
    }
  }
  return machine.of_kind("io").size() == 2u * static_cast<unsigned>(job.size()) ? 0 : 1;
}
