// SPDX-License-Identifier: BSD-3-Clause
// A long allreduce along a ring: in n - 1 steps each rank adds its part of one piece and hands it
// on, and in n - 1 more the finished pieces go round. Any number of ranks, and each byte is sent
// and received about twice (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for
// clusters of workstations, 2009). The operator must commute.
#include "coll/algorithms.hpp"

namespace sinew::coll {

void allreduce_ring(plan& p, const position& at, const call& c) {
  SINEW_EXPECT(p.operation().commutative);
  const buffer result = c.recv.each();
  p.copy(like(input_of(c), result), result);
  const int n = at.size;
  const auto ranks = static_cast<std::size_t>(n);
  const auto start = [&](int i) { return result.count * static_cast<std::size_t>(i) / ranks; };
  const auto piece = [&](const void* base, int i) {
    return part(base, static_cast<std::ptrdiff_t>(start(i)), start(i + 1) - start(i), *result.type);
  };
  const buffer arriving = p.space(result.count / ranks + 1, *result.type);
  const int next = (at.rank + 1) % n;
  const int before = (at.rank - 1 + n) % n;
  for (int step = 0; step + 1 < n; ++step) {
    const buffer sum = piece(result.base, (at.rank - step - 1 + n) % n);
    const buffer into = like(arriving.base, sum);
    p.exchange(piece(result.base, (at.rank - step + n) % n), next, into, before);
    p.combine(into, sum);
  }
  for (int step = 0; step + 1 < n; ++step) {
    p.exchange(piece(result.base, (at.rank + 1 - step + n) % n), next,
               piece(result.base, (at.rank - step + n) % n), before);
  }
}

}  // namespace sinew::coll
