#include <algorithm>
#include <bit>
#include <cstring>

#include "p2p/state.hpp"

namespace sinew::p2p {
namespace {

std::int32_t tag_of(const fabric::header& h) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(h.word[0]));
}

/// Most messages are a few words: two overlapping moves beat a call.
inline void copy_bytes(void* to, const std::byte* from, std::size_t n) noexcept {
  if (n == 8) {
    std::memcpy(to, from, 8);
  } else if (n != 0) {
    std::memcpy(to, from, n);
  }
}

}  // namespace

operation* engine::state::start_receive(core::channel& in, const buffer& into, int source,
                                        int tag) {
  operation* op = make(&in, into);
  op->wanted = {source, tag};
  match::message* met = nullptr;
  {
    core::guard held(in.lock, threaded);
    met = in.matcher->post(*op);
  }
  if (met != nullptr) {
    consume(*op, static_cast<matched*>(met));
  }
  return op;
}

request* engine::irecv(const core::communicator& /*comm*/, core::channel& in, const buffer& into,
                       int source, int tag) {
  if (source == no_rank) {
    operation* op = state_->make(&in, into);
    op->outcome = {};
    op->complete_alone();
    return op;
  }
  return state_->start_receive(in, into, source, tag);
}

result engine::recv(const core::communicator& /*comm*/, core::channel& in, const buffer& into,
                    int source, int tag) {
  if (source == no_rank) {
    return {};
  }
  operation* op = state_->start_receive(in, into, source, tag);
  runtime_.wait(*op);
  const result ended = op->outcome;
  state_->give_back(op);
  return ended;
}

// A receive has met a message that was stored before it. The operation may be gone afterwards.
void engine::state::consume(operation& op, matched* m) {
  op.outcome.source = m->sent.source;
  op.outcome.tag = m->sent.tag;
  const int from = m->job_source;
  const std::uint64_t waits = m->sender_operation;
  if (m->is_offer) {
    const fabric::remote_address at = m->from;
    const std::size_t bytes = m->bytes;
    discard(m);
    fetch(op, from, waits, at, bytes);
    return;
  }
  deliver(op, m->data(), m->bytes);
  discard(m);
  if (waits != 0) {
    tell(from, am_matched, waits);
  }
}

// Copies an eager message into its receive, and ends it.
void engine::state::deliver(operation& op, const std::byte* data, std::size_t bytes) {
  const std::size_t room = op.data.bytes();
  const std::size_t n = std::min(bytes, room);
  op.outcome.bytes = n;
  op.outcome.sent_bytes = bytes;
  op.outcome.error = bytes > room ? fault::truncated : fault::none;
  if (op.data.type->dense()) [[likely]] {
    copy_bytes(op.data.base, data, n);
  } else {
    layout::unpack(*op.data.type, op.data.count, op.data.base, 0, {data, n});
  }
  finish(op);
}

// Brings a long message from where it lies. `op` ends in fetched(), now or later.
void engine::state::fetch(operation& op, int job_source, std::uint64_t sender_operation,
                          const fabric::remote_address& from, std::size_t bytes) {
  const std::size_t room = op.data.bytes();
  const std::size_t n = std::min(bytes, room);
  op.outcome.bytes = n;
  op.outcome.sent_bytes = bytes;
  op.outcome.error = bytes > room ? fault::truncated : fault::none;
  op.peer = job_source;
  op.from = from;
  op.remote_operation = sender_operation;
  if (!op.data.type->dense() && n != 0) {
    op.packed.reset(new (std::nothrow) std::byte[n]);
    if (!op.packed) {
      op.outcome.error = fault::no_memory;
      op.outcome.bytes = 0;
    }
  }
  if (op.outcome.bytes == 0) {
    fetched(op);
    return;
  }
  if (job_source == rt.rank()) {
    std::memcpy(op.packed ? op.packed.get() : static_cast<std::byte*>(op.data.base),
                reinterpret_cast<const void*>(from.address), n);
    fetched(op);
    return;
  }
  op.todo = step::get;
  submit(op);
}

void engine::state::fetched(operation& op) {
  if (op.packed) {
    layout::unpack(*op.data.type, op.data.count, op.data.base, 0,
                   {op.packed.get(), op.outcome.bytes});
    op.packed.reset();
  }
  tell(op.peer, am_matched, op.remote_operation);
  finish(op);
}

// An eager message, straight from the fabric. Runs in the poller.
void engine::state::arrived(const fabric::arrival& a, const std::byte* data, std::size_t bytes,
                            std::uint64_t sender_operation) {
  const auto context = static_cast<std::uint32_t>(a.head.word[0] >> 32);
  if (latest_context.load(std::memory_order_relaxed) != context) {
    latest = &channel_of(context);
    latest_context.store(context, std::memory_order_relaxed);
  }
  core::channel& in = *latest;
  matched& m = *spare;
  m.sent = {static_cast<std::int32_t>(a.head.word[1]), tag_of(a.head)};
  core::guard held(in.lock, threaded);
  match::receive* met = in.matcher->arrive(m);
  if (met != nullptr) [[likely]] {
    held.unlock();
    auto& op = *static_cast<operation*>(met);
    op.outcome.source = m.sent.source;
    op.outcome.tag = m.sent.tag;
    deliver(op, data, bytes);
    if (sender_operation != 0) {
      tell(a.source, am_matched, sender_operation);
    }
    return;
  }
  m.in = &in;
  m.is_offer = false;
  m.sender_operation = sender_operation;
  store(m, a, data, bytes);
}

void engine::state::arrived_offer(const fabric::arrival& a) {
  offer o;
  std::memcpy(&o, a.data, sizeof o);
  core::channel& in = channel_of(static_cast<std::uint32_t>(a.head.word[0] >> 32));
  matched& m = *spare;
  m.sent = {static_cast<std::int32_t>(a.head.word[1]), tag_of(a.head)};
  core::guard held(in.lock, threaded);
  match::receive* met = in.matcher->arrive(m);
  if (met != nullptr) {
    held.unlock();
    auto& op = *static_cast<operation*>(met);
    op.outcome.source = m.sent.source;
    op.outcome.tag = m.sent.tag;
    fetch(op, a.source, o.operation, o.from, o.bytes);
    return;
  }
  m.in = &in;
  m.is_offer = true;
  m.sender_operation = o.operation;
  m.from = o.from;
  store(m, a, nullptr, o.bytes);
}

// The engine holds `m` (the spare) now: fill in the rest while the channel's lock keeps others
// from finding it, and provide the next spare. Senders that outrun us are told to offer.
void engine::state::store(matched& m, const fabric::arrival& a, const std::byte* data,
                          std::size_t bytes) {
  m.bytes = bytes;
  m.job_source = a.source;
  m.charged = 0;
  if (!m.is_offer) {
    m.charged = sizeof(matched);
    std::byte* at = m.small.data();
    if (bytes > matched::inline_bytes) {
      if (m.heap_bytes < bytes) {
        m.heap_bytes = 0;
        m.heap.reset(new std::byte[std::bit_ceil(bytes)]);
        m.heap_bytes = std::bit_ceil(bytes);
      }
      m.charged += m.heap_bytes;
      at = m.heap.get();
    }
    copy_bytes(at, data, bytes);
    peer_state& p = peers[static_cast<std::size_t>(a.source)];
    core::guard held(flow_lock, threaded);
    p.charged += m.charged;
    const bool tell_now = !p.told && p.charged > unexpected_limit;
    p.told = p.told || tell_now;
    held.unlock();
    if (tell_now) {
      tell(a.source, am_throttle, 1);
    }
  }
  spare = messages.get();
}

void engine::state::discard(matched* m) {
  if (m->charged != 0) {
    peer_state& p = peers[static_cast<std::size_t>(m->job_source)];
    core::guard held(flow_lock, threaded);
    p.charged -= m->charged;
    const bool tell_now = p.told && p.charged < unexpected_limit / 2;
    p.told = p.told && !tell_now;
    held.unlock();
    if (tell_now) {
      tell(m->job_source, am_throttle, 0);
    }
    m->charged = 0;
    if (m->heap_bytes > matched::most_kept) {
      m->heap.reset();
      m->heap_bytes = 0;
    }
  }
  messages.put(m);
}

}  // namespace sinew::p2p
