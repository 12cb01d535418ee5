// Alltoall: block j of rank i becomes block i of rank j.
#include <cstring>

#include "coll/collective_messages.hpp"
#include "coll/levels.hpp"
#include "coll/over_node.hpp"
#include "coll/scratch.hpp"
#include "coll/tuning.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coll {
namespace {

/// In step s rank r trades with s - r: a partner for everybody, and nobody waits in a circle (an
/// edge colouring of the complete graph, as in the circle method for round-robin tournaments).
/// What is sent is packed aside first, because its place is where the partner's data go.
template <class Slot>
void in_place_exchange(collective_messages& t, const Slot& slot) {
  const int n = t.size();
  for (int step = 0; step < n; ++step) {
    const int peer = (step - t.rank() + n) % n;
    SINEW_ASSERT((step - peer + n) % n == t.rank());  // the same pair on both sides
    const buffer here = slot(peer);
    if (peer == t.rank() || here.bytes() == 0) {
      continue;
    }
    scratch packed(here.bytes());
    layout::pack(*here.type, here.count, here.base, 0, {packed.base(), here.bytes()});
    t.exchange(buffer::of_bytes(packed.base(), here.bytes()), peer, here, peer);
  }
}

/// Blocks travel to the rank `i` places up by the binary digits of i: log2(n) messages of up to
/// n / 2 packed blocks instead of n - 1 messages (Bruck et al. 1997, see allgather.cpp).
void store_and_forward(collective_messages& t, const buffer& send, const buffer& recv) {
  const int n = t.size();
  const std::size_t each = recv.bytes();
  const auto many = static_cast<std::size_t>(n);
  scratch held(each * many);      // block i: bound for the rank i places up
  scratch outgoing(each * many);  // the upper half receives
  const auto at = [&](int i) { return held.base() + each * static_cast<std::size_t>(i); };
  for (int i = 0; i < n; ++i) {
    const buffer from = block(send, (t.rank() + i) % n);
    layout::pack(*from.type, from.count, from.base, 0, {at(i), each});
  }
  for (int mask = 1; mask < n; mask *= 2) {
    std::size_t used = 0;
    for (int i = mask; i < n; ++i) {
      if ((i & mask) == 0) {
        continue;
      }
      std::memcpy(outgoing.base() + used, at(i), each);
      used += each;
    }
    std::byte* incoming = outgoing.base() + used;
    SINEW_ASSERT(2 * used <= each * many);
    t.exchange(buffer::of_bytes(outgoing.base(), used), (t.rank() + mask) % n,
               buffer::of_bytes(incoming, used), (t.rank() - mask + n) % n);
    for (int i = mask; i < n; ++i) {
      if ((i & mask) == 0) {
        continue;
      }
      std::memcpy(at(i), incoming, each);
      incoming += each;
    }
    SINEW_ENSURE(incoming == outgoing.base() + 2 * used);
  }
  for (int i = 0; i < n; ++i) {
    const buffer into = block(recv, (t.rank() - i + n) % n);
    layout::unpack(*into.type, into.count, into.base, 0, {at(i), each});
  }
}

template <class Out, class In>
fault exchange_blocks(node::team* team, participant at, collective_messages& t, bool in_place_data,
                      const Out& out, const In& in) {
  if (team != nullptr) {
    return node_alltoall(*team, in_place_data, out, in);
  }
  if (levels* const l = levels_of(at); l != nullptr && !in_place_data) {
    return l->alltoall_near(t, out, in);
  }
  if (in_place_data) {
    in_place_exchange(t, in);
  } else {
    exchange_all(t, out, in);
    t.note(copy(out(t.rank()), in(t.rank())));
  }
  return t.outcome();
}

}  // namespace

fault alltoall(participant at, const buffer& send, const buffer& recv) {
  collective_messages t(at, "MPI_Alltoall");
  const std::size_t bytes = recv.bytes();
  node::team* const team = team_for(at, bytes);
  if (bytes == 0) {
    return fault::none;
  }
  levels* const l = team == nullptr && send.base != in_place ? levels_of(at) : nullptr;
  if (l != nullptr && levels::forwards(bytes)) {
    if (send.bytes() != bytes) {
      t.note(fault::truncated);
    }
    return l->alltoall(
        t, [&](int r) { return block(send, r); }, [&](int r) { return block(recv, r); }, bytes);
  }
  if (l == nullptr && team == nullptr && send.base != in_place &&
      t.size() >= tuning::many_ranks() && t.size() > 2 &&
      bytes <= static_cast<std::size_t>(tuning::short_alltoall())) {
    if (send.bytes() != bytes) {
      t.note(fault::truncated);
    }
    store_and_forward(t, send, recv);
    return t.outcome();
  }
  return exchange_blocks(
      team, at, t, send.base == in_place, [&](int r) { return block(send, r); },
      [&](int r) { return block(recv, r); });
}

fault alltoallv(participant at, parts send, parts recv) {
  collective_messages t(at, "MPI_Alltoallv");
  node::team* const team = team_of(at);
  return exchange_blocks(
      team, at, t, send.base == in_place, [&](int r) { return block(send, r); },
      [&](int r) { return block(recv, r); });
}

fault alltoallw(participant at, parts_w send, parts_w recv) {
  collective_messages t(at, "MPI_Alltoallw");
  node::team* const team = team_of(at);
  return exchange_blocks(
      team, at, t, send.base == in_place, [&](int r) { return block(send, r); },
      [&](int r) { return block(recv, r); });
}

}  // namespace sinew::coll
