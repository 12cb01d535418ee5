// SPDX-License-Identifier: BSD-3-Clause
// Allgathers by messages: everybody gets everybody's block.
#include "coll/algorithms.hpp"

namespace sinew::coll {
namespace {

/// What this rank gives: its own block, or what lies elsewhere.
buffer given(const position& at, const call& c) {
  return c.send.in_place() ? c.recv(at.rank) : c.send.each();
}

}  // namespace

/// One rank collects and tells everybody: two waits per rank instead of log2(n).
void allgather_root(plan& p, const position& at, const call& c) {
  const buffer each = c.recv.each();
  if (at.rank != 0) {
    p.send(given(at, c), 0);
  } else {
    for (int r = 1; r < at.size; ++r) {
      p.room(1);
      p.receive(c.recv(r), r);
    }
    p.copy(given(at, c), c.recv(0));
  }
  p.wait();
  make_bcast_tree(p, at, {each.base, each.count * static_cast<std::size_t>(at.size), each.type}, 0,
                  at.fan);
}

/// After round k a rank holds, packed, the blocks of the 2^k ranks from its own upwards; the last
/// round brings what is still missing. ceil(log2 n) rounds for any n (Bruck, Ho, Kipnis, Upfal and
/// Weathersby, Efficient algorithms for all-to-all communications in multiport message-passing
/// systems, 1997).
void allgather_bruck(plan& p, const position& at, const call& c) {
  const int n = at.size;
  const buffer one = c.recv.each();
  const std::size_t each = one.bytes();
  const buffer packed = p.space(each * static_cast<std::size_t>(n));
  const auto held_blocks = [&](int first, int count) {
    return buffer::of_bytes(
        static_cast<std::byte*>(packed.base) + each * static_cast<std::size_t>(first),
        each * static_cast<std::size_t>(count));
  };
  if (given(at, c).bytes() != each) {
    p.note(fault::truncated);
  }
  p.copy(given(at, c), held_blocks(0, 1));
  for (int held = 1; held < n; held *= 2) {
    const int count = 2 * held <= n ? held : n - held;
    p.exchange(held_blocks(0, count), (at.rank - held + n) % n, held_blocks(held, count),
               (at.rank + held) % n);
  }
  const auto unpack = [&](int first_held, int first_rank, int count) {
    buffer into = c.recv(first_rank);
    into.count *= static_cast<std::size_t>(count);
    p.copy(held_blocks(first_held, count), into);
  };
  unpack(0, at.rank, n - at.rank);
  if (at.rank != 0) {
    unpack(n - at.rank, 0, at.rank);
  }
}

void allgather_direct(plan& p, const position& at, const call& c) {
  const buffer mine = given(at, c);
  exchange_all(p, at, [&](int) { return mine; }, [&](int r) { return c.recv(r); });
  p.copy(mine, c.recv(at.rank));
}

}  // namespace sinew::coll
