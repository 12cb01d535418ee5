#include <algorithm>
#include <bit>
#include <cstring>

#include "p2p/state.hpp"
#include "sinew/base/check.hpp"

namespace sinew::p2p {
namespace {

/// Most messages are a few words: two overlapping moves beat a call.
inline void copy_bytes(void* to, const std::byte* from, std::size_t n) noexcept {
  if (n == 8) {
    std::memcpy(to, from, 8);
  } else if (n != 0) {
    std::memcpy(to, from, n);
  }
}

}  // namespace

inline void engine::state::post(operation& op) {
  core::channel& in = *op.in;
  match::message* met = nullptr;
  {
    core::guard held(in.lock, threaded);
    met = in.matcher->post(op);
  }
  if (met != nullptr) {
    consume(op, static_cast<matched*>(met));
  }
}

inline operation* engine::state::start_receive(core::channel& in, const buffer& into, int source,
                                               int tag) {
  if (held_head.word[0] == in.context) [[unlikely]] {
    post_held_back();
  }
  operation* op = make(&in, into);
  op->wanted = {source, tag};
  return op;
}

// Posts a receive that its caller will wait for at once, or holds it back.
inline void engine::state::post_late(operation& op) {
  if (threaded || held_head.word[0] != no_context || op.in->matcher->posted() != 0 ||
      op.in->matcher->unexpected() != 0) {
    post(op);
    return;
  }
  held_back = &op;
  held_head = {{op.in->context, std::bit_cast<std::uint64_t>(op.wanted)}};
}

void engine::state::post_held_back() {
  held_head.word[0] = no_context;
  post(*held_back);
}

void engine::state::await(operation& op) { rt.wait(op); }

request* engine::irecv(const core::communicator& /*comm*/, core::channel& in, const buffer& into,
                       int source, int tag) {
  if (source == no_rank) {
    operation* op = state_->make(&in, into);
    op->outcome = {};
    op->complete_alone();
    return op;
  }
  operation* op = state_->start_receive(in, into, source, tag);
  state_->post(*op);
  return op;
}

result engine::recv(const core::communicator& /*comm*/, core::channel& in, const buffer& into,
                    int source, int tag) {
  if (source == no_rank) {
    return {};
  }
  operation* op = state_->start_receive(in, into, source, tag);
  state_->post_late(*op);
  state_->await(*op);
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
  SINEW_EXPECT(!op.in->exact_length || bytes == op.data.bytes());
  if (op.data.type == plain_bytes && bytes <= op.data.count) [[likely]] {
    op.outcome.bytes = bytes;
    op.outcome.sent_bytes = bytes;
    op.outcome.error = fault::none;
    copy_bytes(op.data.base, data, bytes);
    finish(op);
    return;
  }
  deliver_other(op, data, bytes);
}

void engine::state::deliver_other(operation& op, const std::byte* data, std::size_t bytes) {
  const std::size_t room = op.data.bytes();
  const std::size_t n = std::min(bytes, room);
  op.outcome.bytes = n;
  op.outcome.sent_bytes = bytes;
  op.outcome.error = bytes > room ? fault::truncated : fault::none;
  layout::unpack(*op.data.type, op.data.count, op.data.base, 0, {data, n});
  finish(op);
}

// Brings a long message from where it lies. `op` ends in fetched(), now or later.
void engine::state::fetch(operation& op, int job_source, std::uint64_t sender_operation,
                          const fabric::remote_address& from, std::size_t bytes) {
  const std::size_t room = op.data.bytes();
  const std::size_t n = std::min(bytes, room);
  SINEW_EXPECT(!op.in->exact_length || bytes == room);
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

inline void engine::state::end_eager(operation& op, const fabric::arrival& a, const std::byte* data,
                                     std::size_t bytes, std::uint64_t sender_operation) {
  op.outcome.source = envelope_in(a.head).source;
  op.outcome.tag = envelope_in(a.head).tag;
  deliver(op, data, bytes);
  if (sender_operation != 0) {
    tell(a.source, am_matched, sender_operation);
  }
}

// An eager message, straight from the fabric. Runs in the poller.
template <bool Threads>
void engine::state::arrived(const fabric::arrival& a, const std::byte* data, std::size_t bytes,
                            std::uint64_t sender_operation) {
  if (!Threads && a.head.word[0] == held_head.word[0]) {
    if (a.head.word[1] == held_head.word[1]) [[likely]] {
      held_head.word[0] = no_context;
      end_eager(*held_back, a, data, bytes, sender_operation);
      return;
    }
    post_held_back();
  }
  const auto context = static_cast<std::uint32_t>(a.head.word[0]);
  if (latest_context.load(std::memory_order_relaxed) != context) [[unlikely]] {
    latest = &channel_of(context);
    latest_context.store(context, std::memory_order_relaxed);
  }
  core::channel& in = *latest;
  matched& m = *spare;
  m.sent = envelope_in(a.head);
  core::guard held(in.lock, Threads);
  match::receive* met = in.matcher->arrive(m);
  if (met == nullptr) [[unlikely]] {
    m.in = &in;
    m.is_offer = false;
    m.sender_operation = sender_operation;
    store(m, a, data, bytes);
    return;
  }
  held.unlock();
  end_eager(*static_cast<operation*>(met), a, data, bytes, sender_operation);
}

template <bool Threads>
void engine::state::on_eager(void* self, const fabric::arrival& a) {
  static_cast<state*>(self)->arrived<Threads>(a, a.data, a.size, 0);
}

template <bool Threads>
void engine::state::on_eager_sync(void* self, const fabric::arrival& a) {
  std::uint64_t sender_operation = 0;
  std::memcpy(&sender_operation, a.data, sizeof sender_operation);
  static_cast<state*>(self)->arrived<Threads>(a, a.data + sizeof sender_operation,
                                              a.size - sizeof sender_operation, sender_operation);
}

void engine::state::take_eager() {
  net.set_handler(am_eager, threaded ? on_eager<true> : on_eager<false>, this);
  net.set_handler(am_eager_sync, threaded ? on_eager_sync<true> : on_eager_sync<false>, this);
}

void engine::state::arrived_offer(const fabric::arrival& a) {
  if (a.head.word[0] == held_head.word[0]) {
    post_held_back();
  }
  offer o;
  std::memcpy(&o, a.data, sizeof o);
  core::channel& in = channel_of(static_cast<std::uint32_t>(a.head.word[0]));
  matched& m = *spare;
  m.sent = envelope_in(a.head);
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
