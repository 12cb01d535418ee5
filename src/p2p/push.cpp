// Messages of middle length, pushed: a line that announces them (am_push), then the pieces in
// packets (am_piece), all before the receive is known. The receiver copies one piece while the
// sender writes the next, and no word goes back and forth.
//
// The pieces of one message come in order, since they take one ring. Those of two threads' messages
// may alternate, so each piece names its message, by the address of the sender's operation; that
// address is used again only after the last piece has gone into the ring.
#include <algorithm>
#include <cstring>
#include <new>

#include "p2p/state.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::p2p {
namespace {

struct announcement {
  std::uint64_t operation;  ///< address of the sender's operation, a name only
  std::uint64_t bytes;
};
static_assert(std::is_trivially_copyable_v<announcement>);

std::uint64_t name_of(const operation& op) noexcept { return reinterpret_cast<std::uint64_t>(&op); }

/// Bytes [at, at + n) of a message that comes in pieces.
void put(const inflow& into, std::size_t at, const std::byte* data, std::size_t n) noexcept {
  if (into.op == nullptr || into.op->data.type->dense()) {
    copy_bytes(into.to + at, data, n);
  } else {
    const buffer& b = into.op->data;
    layout::unpack(*b.type, b.count, b.base, at, {data, n});
  }
}

}  // namespace

// The next `n` bytes; true if they have gone. Data with gaps are packed into the fabric's packet,
// so that the receiver unpacks one piece while the next is packed; to another node they go packed
// whole, in longer pieces. The message has been announced:
// a piece for which there is no memory comes again.
bool engine::state::push_piece(operation& op, std::size_t n) noexcept try {
  fabric::endpoint& way = way_to(op.peer);
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
bool engine::state::push(operation& op) {
  const std::size_t bytes = op.data.bytes();
  fabric::endpoint& way = way_to(op.peer);
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
  const std::size_t most = is_near(op.peer) ? way.bounds().max_medium : way.longest_to(op.peer);
  SINEW_ASSERT(op.pushed <= bytes);
  while (op.pushed != bytes) {
    const std::size_t n = std::min(most, bytes - op.pushed);
    if (!push_piece(op, n)) {
      return false;
    }
    op.pushed += n;
  }
  finish(op);
  return true;
}

// What follows runs in the poller, but take_over().

bool engine::state::arrived_push(const fabric::arrival& a) {
  announcement said;
  if (a.size != sizeof said) [[unlikely]] {
    fabric::corrupt_peer(a.source, "the announcement of a long message has a wrong size", a.size);
  }
  std::memcpy(&said, a.data, sizeof said);
  inflow coming{a.source, said.operation, said.bytes};
  // Held before the message can be found: whoever finds it looks for the rest of it.
  base::guard held(inflow_lock, threaded);
  if (inflows.size() == inflows.capacity()) {
    inflows.reserve(2 * inflows.size() + 8);  // before anything has happened
  }
  matched& m = *spare;
  const meeting found = meet(a, [&](channel& in) {
    m.in = &in;
    m.how = matched::way::pushed;
    m.sender_operation = 0;
    return store(m, a, nullptr, said.bytes);
  });
  if (found.met != nullptr) {
    lead(coming, *found.met);
  } else if (found.stored) {
    coming.stored = &m;
    coming.to = m.data();
    coming.room = said.bytes;
  } else {
    return false;
  }
  inflows.push_back(coming);
  return true;
}

// The message goes on into the buffer of a receive.
void engine::state::lead(inflow& coming, operation& op) noexcept {
  prepare(op, coming.bytes);
  coming.op = &op;
  coming.stored = nullptr;
  coming.to = static_cast<std::byte*>(op.data.base);
  coming.room = op.outcome.bytes;
  SINEW_ENSURE(coming.room <= coming.bytes);
}

void engine::state::arrived_piece(const fabric::arrival& a) noexcept {
  base::guard held(inflow_lock, threaded);
  const auto it = std::find_if(inflows.begin(), inflows.end(), [&](const inflow& i) {
    return i.name == a.head.word[0] && i.source == a.source;
  });
  if (it == inflows.end() || a.size > it->bytes - it->arrived) [[unlikely]] {
    fabric::corrupt_peer(a.source, "a piece belongs to no message that was announced", a.size);
  }
  if (it->arrived < it->room) {
    put(*it, it->arrived, a.data, std::min(a.size, it->room - it->arrived));
  }
  it->arrived += a.size;
  if (it->arrived != it->bytes) {
    return;
  }
  operation* const op = it->op;
  SINEW_ASSERT((op == nullptr) == (it->stored != nullptr));  // it has one receiver
  *it = inflows.back();
  inflows.pop_back();
  held.unlock();
  if (op != nullptr) {
    finish(*op);
  }
}

// A receive has met a message that was announced before it: true if pieces of it are still to come,
// and `op` will end with the last of them. Any thread.
bool engine::state::take_over(operation& op, matched& m) noexcept {
  base::guard held(inflow_lock, threaded);
  const auto it =
      std::find_if(inflows.begin(), inflows.end(), [&](const inflow& i) { return i.stored == &m; });
  if (it == inflows.end()) {
    return false;
  }
  SINEW_ASSERT(it->op == nullptr && it->arrived < it->bytes);
  const std::byte* const before = it->to;
  lead(*it, op);
  put(*it, 0, before, std::min(it->arrived, it->room));
  return true;
}

}  // namespace sinew::p2p
