// SPDX-License-Identifier: BSD-3-Clause
// Collectives among neighbours: all messages of a call are under way at once.
#include "coll/algorithms.hpp"

namespace sinew::coll {

/// Between two ranks messages meet receives in their order. In a Cartesian topology the one that a
/// rank sends down first is what its neighbour gets from above.
void neighbours_direct(plan& p, const position& /*at*/, const call& c) {
  const neighbours& n = *c.topology;
  SINEW_EXPECT(!n.cartesian || n.sources.size() % 2 == 0);  // they lie in pairs
  for (std::size_t i = 0; i < n.sources.size(); ++i) {
    const std::size_t from = n.cartesian ? i ^ 1U : i;
    if (n.sources[from] >= 0) {
      p.receive(c.recv(static_cast<int>(from)), n.sources[from]);
    }
  }
  const bool to_each = c.what == collective::neighbour_alltoall;
  for (std::size_t i = 0; i < n.destinations.size(); ++i) {
    if (n.destinations[i] >= 0) {
      p.send(to_each ? c.send(static_cast<int>(i)) : c.send.each(), n.destinations[i]);
    }
  }
}

}  // namespace sinew::coll
