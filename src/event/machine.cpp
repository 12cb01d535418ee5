// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/event/machine.hpp"

#include <algorithm>

namespace sinew::event {
namespace {

/// The kernel's copy: every byte is read and written, and a call of 1 us takes about as long as ten
/// misses.
constexpr double kernel_bandwidth = 0.5;
constexpr double kernel_latency = 10.0;

}  // namespace

std::vector<processor> machine::of_kind(std::string_view kind) const {
  std::vector<processor> found;
  for (const processor_info& p : processors) {
    if (kinds[p.kind] == kind) {
      found.push_back(p.where);
    }
  }
  return found;
}

int machine::node_of(job_rank rank) const noexcept {
  const auto found = std::find_if(processors.begin(), processors.end(),
                                  [rank](const auto& p) { return p.where.rank() == rank; });
  return found == processors.end() ? 0 : found->numa_node;
}

affinity machine::of_rank(const processor_info& p, job_rank rank, bool is_private) const {
  const topology::memory_map& known = map != nullptr ? *map : topology::memory_map::of_machine();
  const topology::nearness& near = known.between(p.numa_node, node_of(rank));
  const bool by_kernel = is_private && rank != p.where.rank();
  // The best pair is the scale: of a machine with one node it is 1 by definition, not by estimate.
  const bool guessed =
      known.nodes().size() > 1 && (near.bandwidth_from == topology::origin::estimate ||
                                   near.latency_from == topology::origin::estimate);
  return {near.bandwidth * (by_kernel ? kernel_bandwidth : 1),
          near.latency * (by_kernel ? kernel_latency : 1), guessed || by_kernel};
}

affinity machine::between(const processor_info& p, const memory_info& m) const {
  if (m.kind != memory_kind::global) {
    return of_rank(p, m.rank, m.kind == memory_kind::heap);
  }
  // Stripes of equal size: times add up, so bandwidth is the harmonic mean.
  double time = 0;
  double latency = 0;
  bool estimated = false;
  for (job_rank r = 0; r.below(ranks); ++r) {
    const affinity one = of_rank(p, r, false);
    time += 1 / one.bandwidth;
    latency += one.latency;
    estimated = estimated || one.estimated;
  }
  return {ranks / time, latency / ranks, estimated};
}

affinity machine::between(const memory_info& from, const memory_info& to) const {
  const job_rank rank = from.rank < 0 ? 0 : from.rank;
  const processor_info reader{processor(rank, 0), node_of(rank)};
  const affinity out = between(reader, from);
  const affinity in = between(reader, to);
  return {std::min(out.bandwidth, in.bandwidth), std::max(out.latency, in.latency),
          out.estimated || in.estimated};
}

}  // namespace sinew::event
