// SPDX-License-Identifier: BSD-3-Clause
// Reductions to one rank, by messages. Operators need not commute: unless an algorithm says so,
// every partial result covers consecutive ranks, and the lower ranks' result is always the left
// operand.
#include "coll/algorithms.hpp"
#include "coll/halving.hpp"
#include "coll/tuning.hpp"

namespace sinew::coll {

void make_reduce_tree(plan& p, const position& at, const void* input, const buffer& result,
                      int root, int fan) {
  SINEW_EXPECT(root >= 0 && root < at.size && fan >= 2);
  const int n = at.size;
  // Rotating the ranks would break the order of an operator that does not commute.
  const int top = p.operation().commutative ? root : 0;
  const int v = (at.rank - top + n) % n;
  const auto real = [&](int relative) { return (relative + top) % n; };
  // `sofar` is this rank's input until the first child's data lie in one of two buffers; then they
  // take turns. At the root the user's buffer is one of them, unless it holds the input.
  buffer free_buffers[2];
  const bool at_top = at.rank == root && v == 0;
  if (at_top && input != result.base) {
    free_buffers[0] = result;
  }
  buffer sofar = like(input, result);
  int turn = 0;
  int mask = 1;
  for (; mask < n && (v / mask) % fan == 0; mask *= fan) {
    for (int d = 1; d < fan && v + d * mask < n; ++d) {
      buffer& into = free_buffers[turn];
      if (into.type == nullptr) {
        into = p.space(result.count, *result.type);
      }
      p.receive(into, real(v + d * mask));
      p.wait();
      p.combine(sofar, into);
      sofar = into;
      turn = 1 - turn;
      if (at_top && input == result.base && free_buffers[turn].type == nullptr) {
        free_buffers[turn] = result;  // its input has been combined
      }
    }
  }
  if (v != 0) {
    p.send(sofar, real(v - (v / mask) % fan * mask));
  } else if (top != root) {
    p.send(sofar, root);
  } else {
    p.copy(sofar, result);
  }
  if (at.rank == root && top != root) {
    p.wait();  // its part has left
    p.receive(result, top);
  }
}

/// Binomial, or k-nomial where short messages go and processors are few.
void reduce_tree(plan& p, const position& at, const call& c) {
  const buffer result = c.recv.each();
  const bool is_short = result.bytes() <= static_cast<std::size_t>(tuning::tree_bytes());
  make_reduce_tree(p, at, input_of(c), result, c.root.value(), is_short ? at.fan : 2);
}

/// Halving, then the root collects the pieces. The operator must commute.
void reduce_halving(plan& p, const position& at, const call& c) {
  const buffer result = c.recv.each();
  const int root = c.root.value();
  const buffer mine = at.rank == root ? result : p.space(result.count, *result.type);
  p.copy(like(input_of(c), result), mine);
  const halving h(at, mine);
  const fold& f = h.folded();
  turns b{mine, p.space(result.count, *result.type)};
  if (f.in(p, at, b)) {
    h.halve(p, b.other);
  }
  p.wait();
  if (at.rank != root) {
    if (f.rank >= 0) {
      p.send_if_any(h.piece(mine.base, f.rank, f.rank + 1), root);
    }
    return;
  }
  for (int i = 0; i < f.core; ++i) {
    if (i != f.rank) {
      p.room(1);
      p.receive_if_any(h.piece(mine.base, i, i + 1), f.real(i));
    }
  }
}

}  // namespace sinew::coll
