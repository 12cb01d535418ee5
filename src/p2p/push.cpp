// SPDX-License-Identifier: BSD-3-Clause
// Messages of middle length, pushed: a line that announces them (am_push), then the pieces in
// packets (am_piece), all before the receive is known. The receiver copies one piece while the
// sender writes the next, and no word goes back and forth. inflows.hpp has the receiver's side.
#include <algorithm>
#include <new>

#include "p2p/peers.hpp"
#include "p2p/send.hpp"
#include "sinew/base/check.hpp"

namespace sinew::p2p {
namespace {

std::uint64_t name_of(const operation& op) noexcept { return reinterpret_cast<std::uint64_t>(&op); }

}  // namespace

// The next `n` bytes; true if they have gone. Data with gaps are packed into the fabric's packet,
// so that the receiver unpacks one piece while the next is packed; to another node they go packed
// whole, in longer pieces. The message has been announced:
// a piece for which there is no memory comes again.
bool sender::push_piece(operation& op, std::size_t n) noexcept try {
  fabric::endpoint& way = all_.peers.endpoint_to(op.peer);
  const fabric::header head{{name_of(op), 0}};
  if (op.packed || op.data.type->dense()) {
    const auto* const data =
        op.packed ? op.packed.get() : static_cast<const std::byte*>(op.data.base);
    return way.send_medium(op.peer, am_piece, head, data + op.pushed, n).done();
  }
  if (op.parcel.data == nullptr) {
    fabric::packet empty;
    if (way.reserve(op.peer, empty).retry()) {
      return false;
    }
    op.parcel = empty;
    layout::pack(*op.data.type, op.data.count, op.data.base, op.pushed, {op.parcel.data, n});
  }
  if (way.commit(op.peer, am_piece, head, op.parcel, n).retry()) {
    return false;
  }
  op.parcel = {};
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// Takes the next steps of a push; true when the last piece has gone.
bool sender::push(operation& op) {
  const std::size_t bytes = op.data.bytes();
  fabric::endpoint& way = all_.peers.endpoint_to(op.peer);
  if (op.todo == step::announce) {
    const announcement a{name_of(op), bytes};
    if (way.send_short(op.peer, am_push, op.head, &a, sizeof a).retry()) {
      return false;
    }
    op.todo = step::push;
    op.pushed = 0;
    op.parcel = {};
  }
  // Whole packets, short messages too: they are copied by better instructions than halves are
  // (fabric/shm/copy.hpp). 16 KiB took 1.25 us, by halves 1.54; 32 KiB 1.93 and 2.51.
  const std::size_t most =
      all_.peers.is_near(op.peer) ? way.bounds().max_medium : way.longest_to(op.peer);
  SINEW_ASSERT(op.pushed <= bytes);
  while (op.pushed != bytes) {
    const std::size_t n = std::min(most, bytes - op.pushed);
    if (!push_piece(op, n)) {
      return false;
    }
    op.pushed += n;
  }
  all_.operations.finish(op);
  return true;
}

}  // namespace sinew::p2p
