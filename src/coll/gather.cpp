// SPDX-License-Identifier: BSD-3-Clause
// Gather and scatter by messages: the root deals with every rank directly, many at a time.
#include "coll/algorithms.hpp"

namespace sinew::coll {

void gather_direct(plan& p, const position& at, const call& c) {
  const int root = c.root.value();
  if (at.rank != root) {
    return p.send_if_any(c.send.each(), root);
  }
  for (int i = 1; i < at.size; ++i) {
    const int r = (root + i) % at.size;
    p.room(1);
    p.receive_if_any(c.recv(r), r);
  }
  if (!c.send.in_place()) {
    p.copy(c.send.each(), c.recv(root));
  }
}

void scatter_direct(plan& p, const position& at, const call& c) {
  const int root = c.root.value();
  if (at.rank != root) {
    return p.receive_if_any(c.recv.each(), root);
  }
  for (int i = 1; i < at.size; ++i) {
    const int r = (root + i) % at.size;
    p.room(1);
    p.send_if_any(c.send(r), r);
  }
  if (!c.recv.in_place()) {
    p.copy(c.send(root), c.recv.each());
  }
}

}  // namespace sinew::coll
