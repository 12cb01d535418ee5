// SPDX-License-Identifier: BSD-3-Clause
// Barriers by messages.
#include "coll/algorithms.hpp"

namespace sinew::coll {

/// ceil(log2 n) rounds; after round k a rank has heard of 2^k others (Hensgen, Finkel and Manber,
/// Two algorithms for barrier synchronization, 1988).
void barrier_dissemination(plan& p, const position& at, const call& /*c*/) {
  const int n = at.size;
  for (int distance = 1; distance < n; distance *= 2) {
    p.exchange(nothing(), (at.rank + distance) % n, nothing(), (at.rank - distance + n) % n);
  }
}

/// Children tell their parents that they are here, then wait for the parent's word: a combining
/// tree (Yew, Tzeng and Lawrie, Distributing hot-spot addressing in large-scale multiprocessors,
/// 1987).
void barrier_tree(plan& p, const position& at, const call& /*c*/) {
  const int n = at.size;
  const int v = at.rank;
  int mask = 1;
  for (; mask < n && (v / mask) % at.fan == 0; mask *= at.fan) {
    for (int d = 1; d < at.fan && v + d * mask < n; ++d) {
      p.room(1);
      p.receive(nothing(), v + d * mask);
    }
  }
  p.wait();
  if (v != 0) {
    p.send(nothing(), v - (v / mask) % at.fan * mask);
  }
  make_bcast_tree(p, at, nothing(), 0, at.fan);
}

}  // namespace sinew::coll
