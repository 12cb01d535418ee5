// SPDX-License-Identifier: BSD-3-Clause
// Reductions whose result all ranks get, by messages. What reduce.cpp says of operators holds.
// Short vectors go by recursive doubling or a tree, long ones by recursive halving and doubling,
// and the ranks above a power of two are folded in and out (Rabenseifner 2004, see halving.hpp).
#include "coll/algorithms.hpp"
#include "coll/halving.hpp"

namespace sinew::coll {

fold::fold(const position& at) noexcept : core(1), rest(0), rank(-1) {
  while (2 * core <= at.size) {
    core *= 2;
  }
  rest = at.size - core;
  if (at.rank >= 2 * rest) {
    rank = at.rank - rest;
  } else if (at.rank % 2 != 0) {
    rank = at.rank / 2;
  }
  SINEW_ENSURE(rank < core && rest < core);
  SINEW_ENSURE(rank < 0 || real(rank) == at.rank);
}

bool fold::in(plan& p, const position& at, turns& b) const {
  if (at.rank >= 2 * rest) {
    return true;
  }
  if (rank < 0) {
    p.send(b.current, at.rank + 1);
    p.wait();
    return false;
  }
  p.receive(b.other, at.rank - 1);
  p.wait();
  b.take_lower(p);
  return true;
}

void fold::out(plan& p, const position& at, const buffer& result) const {
  if (at.rank >= 2 * rest) {
    return;
  }
  if (rank < 0) {
    p.receive(result, at.rank + 1);
  } else {
    p.send(result, at.rank - 1);
  }
}

/// Through one rank: two waits for each of the others instead of log2(n).
void allreduce_tree(plan& p, const position& at, const call& c) {
  make_reduce_tree(p, at, input_of(c), c.recv.each(), 0, at.fan);
  p.wait();
  make_bcast_tree(p, at, c.recv.each(), 0, at.fan);
}

/// log2(n) exchanges of everything.
void allreduce_doubling(plan& p, const position& at, const call& c) {
  const buffer result = c.recv.each();
  p.copy(like(input_of(c), result), result);
  const fold f(at);
  turns b{result, p.space(result.count, *result.type)};
  if (f.in(p, at, b)) {
    for (int mask = 1; mask < f.core; mask *= 2) {
      const int peer = f.rank ^ mask;
      p.exchange(b.current, f.real(peer), b.other, f.real(peer));
      peer < f.rank ? b.take_lower(p) : b.take_higher(p);
    }
    p.copy(b.current, result);
  }
  f.out(p, at, result);
}

/// Halving, then the pieces are collected by doubling: every byte is sent and combined about once
/// per rank. The operator must commute.
void allreduce_halving(plan& p, const position& at, const call& c) {
  const buffer result = c.recv.each();
  p.copy(like(input_of(c), result), result);
  const halving h(at, result);
  const fold& f = h.folded();
  turns b{result, p.space(result.count, *result.type)};
  if (f.in(p, at, b)) {
    h.halve(p, b.other);
    for (int mask = 1; mask < f.core; mask *= 2) {
      const int first = f.rank & ~(mask - 1);
      const int theirs = first ^ mask;
      const int peer = f.real(f.rank ^ mask);
      p.exchange(h.piece(result.base, first, first + mask), peer,
                 h.piece(result.base, theirs, theirs + mask), peer);
    }
  }
  f.out(p, at, result);
}

}  // namespace sinew::coll
