// SPDX-License-Identifier: BSD-3-Clause
// Inclusive and exclusive prefix reductions, by recursive doubling; the order of ranks is kept.
// (Simultaneous binomial trees: Sanders and Traff, Parallel prefix (scan) algorithms for MPI,
// 2006.)
#include "coll/algorithms.hpp"

namespace sinew::coll {

/// After the round with distance `mask` a rank knows the total of its group of 2 * mask ranks (as
/// far as they exist: a rank of an incomplete group never sends to a higher group) and the prefix
/// within it. An exclusive prefix starts empty: the first lower total is copied into it.
void scan_doubling(plan& p, const position& at, const call& c) {
  const buffer result = c.recv.each();
  const buffer input = like(input_of(c), result);
  const bool inclusive = c.what == collective::scan;
  turns total{p.space(input.count, *input.type), p.space(input.count, *input.type)};
  p.copy(input, total.current);
  if (inclusive) {
    p.copy(input, result);
  }
  bool is_empty = !inclusive;
  for (int mask = 1; mask < at.size; mask *= 2) {
    const int peer = at.rank ^ mask;
    if (peer >= at.size) {
      continue;
    }
    p.exchange(total.current, peer, total.other, peer);
    if (peer > at.rank) {
      total.take_higher(p);
      continue;
    }
    if (is_empty) {
      p.copy(total.other, result);
      is_empty = false;
    } else {
      p.combine(total.other, result);
    }
    total.take_lower(p);
  }
  SINEW_ENSURE(is_empty == (!inclusive && at.rank == 0));
}

}  // namespace sinew::coll
