// SPDX-License-Identifier: BSD-3-Clause
// Alltoalls by messages: block j of rank i becomes block i of rank j.
#include <algorithm>

#include "coll/algorithms.hpp"

namespace sinew::coll {

/// Blocks travel to the rank `i` places up by the binary digits of i: log2(n) messages of up to
/// n / 2 packed blocks instead of n - 1 messages (Bruck et al. 1997, see allgather.cpp).
void alltoall_bruck(plan& p, const position& at, const call& c) {
  const int n = at.size;
  const std::size_t each = c.recv.each().bytes();
  const auto many = static_cast<std::size_t>(n);
  const buffer held = p.space(each * many);   // block i: bound for the rank i places up
  const buffer moved = p.space(each * many);  // the upper half receives
  const auto slot = [each](const buffer& of, std::size_t i, std::size_t count) {
    return buffer::of_bytes(static_cast<std::byte*>(of.base) + i * each, count * each);
  };
  if (c.send.each().bytes() != each) {
    p.note(fault::truncated);
  }
  for (int i = 0; i < n; ++i) {
    p.copy(c.send((at.rank + i) % n), slot(held, static_cast<std::size_t>(i), 1));
  }
  for (int mask = 1; mask < n; mask *= 2) {
    std::size_t used = 0;
    for (int i = mask; i < n; ++i) {
      if ((i & mask) != 0) {
        p.copy(slot(held, static_cast<std::size_t>(i), 1), slot(moved, used++, 1));
      }
    }
    SINEW_ASSERT(2 * used <= many);
    p.exchange(slot(moved, 0, used), (at.rank + mask) % n, slot(moved, used, used),
               (at.rank - mask + n) % n);
    for (int i = mask; i < n; ++i) {
      if ((i & mask) != 0) {
        p.copy(slot(moved, used++, 1), slot(held, static_cast<std::size_t>(i), 1));
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    p.copy(slot(held, static_cast<std::size_t>(i), 1), c.recv((at.rank - i + n) % n));
  }
}

void alltoall_direct(plan& p, const position& at, const call& c) {
  exchange_all(p, at, [&](int r) { return c.send(r); }, [&](int r) { return c.recv(r); });
  p.copy(c.send(at.rank), c.recv(at.rank));
}

/// In step s rank r trades with s - r: a partner for everybody, and nobody waits in a circle (an
/// edge colouring of the complete graph, as in the circle method for round-robin tournaments).
/// What is sent is packed aside first, because its place is where the partner's data go.
void alltoall_in_place(plan& p, const position& at, const call& c) {
  const int n = at.size;
  std::size_t most = 0;
  for (int r = 0; r < n; ++r) {
    most = r == at.rank ? most : std::max(most, c.recv(r).bytes());
  }
  const buffer aside = p.space(most);
  for (int step = 0; step < n; ++step) {
    const int peer = (step - at.rank + n) % n;
    SINEW_ASSERT((step - peer + n) % n == at.rank);  // the same pair on both sides
    const buffer here = c.recv(peer);
    if (peer != at.rank && here.bytes() != 0) {
      const buffer packed = buffer::of_bytes(aside.base, here.bytes());
      p.copy(here, packed);
      p.exchange(packed, peer, here, peer);
    }
  }
}

}  // namespace sinew::coll
