#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "p2p/state.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::p2p {
namespace {

/// A stream that its receiver follows late would allocate and free for each message, and the system
/// would take the memory back in between: at 4 us a page, 64 KiB took 30 us instead of 6.
constexpr std::size_t most_large_heaps = std::size_t{4} << 20;

/// Most messages are a few words: two overlapping moves beat a call.
inline void copy_out(void* to, const std::byte* from, std::size_t n) noexcept {
  if (n == 8) {
    std::memcpy(to, from, 8);
  } else {
    copy_bytes(to, from, n);
  }
}

}  // namespace

inline void engine::state::post(operation& op) {
  SINEW_EXPECT(!op.done());
  match::message* const met = threaded ? post_among_threads(op) : op.in->matcher.alone().post(op);
  if (met != nullptr) {
    consume(op, static_cast<matched*>(met));
  }
}

match::message* engine::state::post_among_threads(operation& op) {
  if (op.in->away != nullptr) [[unlikely]] {
    return post_across(op);
  }
  return op.in->matcher.enter(op.wanted).post(op);
}

inline operation* engine::state::start_receive(channel& in, const buffer& into, comm_rank source,
                                               message_tag tag) {
  SINEW_EXPECT(source >= any_source && tag >= any_tag);
  if (held_head.word[0] == in.context) [[unlikely]] {
    post_held_back();
  }
  operation* op = make(&in, into);
  op->wanted = {source, tag};
  if (source == any_source) {
    op->unmatched.store(true, std::memory_order_relaxed);
  }
  return op;
}

// Posts a receive that its caller will wait for at once, or holds it back.
inline void engine::state::post_late(operation& op, comm_rank source, message_tag tag) {
  if (threaded || held_head.word[0] != no_context || op.in->matcher.alone().posted() != 0 ||
      op.in->matcher.alone().unexpected() != 0) {
    post(op);
    return;
  }
  SINEW_ASSERT(!threaded);
  held_back = &op;
  held_head = make_header(*op.in, tag, source);
}

// Throws what post() does; then it is held back still.
void engine::state::post_held_back() {
  const std::uint64_t context = held_head.word[0];
  SINEW_EXPECT(context != no_context && held_back != nullptr);
  held_head.word[0] = no_context;
  try {
    post(*held_back);
  } catch (...) {
    held_head.word[0] = context;
    throw;
  }
}

// Who blocks in a receive from any source has to hear of the death of one: it ends.
void engine::state::await(operation& op) {
  if (op.wanted.source != any_source ||
      (survivors == nullptr && far.load(std::memory_order_relaxed) == nullptr)) {
    rt.wait(op);
    return;
  }
  if (held_head.word[0] == op.in->context) {
    post_held_back();
  }
  struct condition {
    const state& self;
    const operation& op;
  } either{*this, op};
  rt.wait_until(
      [](void* c) {
        const auto& [self, received] = *static_cast<condition*>(c);
        return received.done() || self.is_interrupted(received);
      },
      &either);
  if (!op.done() && !end_posted(op, fault::peer_failed)) {
    rt.wait(op);  // a message has met it meanwhile
  }
}

request* engine::irecv(const core::communicator& /*comm*/, channel& in, const buffer& into,
                       comm_rank source, message_tag tag) {
  if (source == no_rank) {
    operation* op = state_->make(&in, into);
    op->outcome = {};
    op->complete_alone();
    return op;
  }
  operation* op = state_->start_receive(in, into, source, tag);
  try {
    state_->post(*op);
  } catch (...) {  // it is stored nowhere
    state_->give_back(op);
    throw;
  }
  return op;
}

result engine::recv(const core::communicator& /*comm*/, channel& in, const buffer& into,
                    comm_rank source, message_tag tag) {
  if (source == no_rank) {
    return {};
  }
  operation* op = state_->start_receive(in, into, source, tag);
  try {
    state_->post_late(*op, source, tag);
  } catch (...) {
    state_->give_back(op);
    throw;
  }
  state_->await(*op);
  const result ended = op->outcome;
  state_->give_back(op);
  return ended;
}

// A receive has met a message that was stored before it. The operation may be gone afterwards.
void engine::state::consume(operation& op, matched* m) noexcept {
  SINEW_EXPECT(m->in == op.in);
  op.outcome.source = m->sent.source;
  op.outcome.tag = m->sent.tag;
  const job_rank from = m->job_source;
  const std::uint64_t waits = m->sender_operation;
  if (m->how == matched::way::tagged) [[unlikely]] {
    const fabric::tagged::waiting what = m->tagged;
    m->in->stored_tagged.fetch_sub(1, std::memory_order_relaxed);
    discard(m);
    receive_taken(op, what, nullptr);
    return;
  }
  if (m->how == matched::way::pushed && take_over(op, *m)) {
    discard(m);
    return;
  }
  if (m->how == matched::way::rts) {
    const fabric::remote_address at = m->from;
    const std::size_t bytes = m->bytes;
    discard(m);
    fetch(op, from, waits, at, bytes);
    return;
  }
  deliver(op, m->data(), m->bytes);
  discard(m);
  if (waits != 0) {
    send_control(from, am_matched, {{waits, 0}});
  }
}

// Copies an eager message into its receive, and ends it.
void engine::state::deliver(operation& op, const std::byte* data, std::size_t bytes) noexcept {
  SINEW_EXPECT(!op.in->exact_length.load(std::memory_order_relaxed) || bytes == op.data.bytes());
  if (op.data.type == plain_bytes && bytes <= op.data.count) [[likely]] {
    op.outcome.bytes = bytes;
    op.outcome.sent_bytes = bytes;
    op.outcome.error = fault::none;
    copy_out(op.data.base, data, bytes);
    finish(op);
    return;
  }
  deliver_other(op, data, bytes);
}

void engine::state::deliver_other(operation& op, const std::byte* data,
                                  std::size_t bytes) noexcept {
  const std::size_t room = op.data.bytes();
  const std::size_t n = std::min(bytes, room);
  op.outcome.bytes = n;
  op.outcome.sent_bytes = bytes;
  op.outcome.error = bytes > room ? fault::truncated : fault::none;
  layout::unpack(*op.data.type, op.data.count, op.data.base, 0, {data, n});
  finish(op);
}

// A receive learns how long its message is that does not come at once.
void engine::state::prepare(operation& op, std::size_t bytes) noexcept {
  const std::size_t room = op.data.bytes();
  const std::size_t n = std::min(bytes, room);
  SINEW_EXPECT(!op.in->exact_length.load(std::memory_order_relaxed) || bytes == room);
  op.unmatched.store(false, std::memory_order_relaxed);
  op.outcome.bytes = n;
  op.outcome.sent_bytes = bytes;
  op.outcome.error = bytes > room ? fault::truncated : fault::none;
  SINEW_ENSURE(op.outcome.bytes <= op.outcome.sent_bytes);
}

// Brings a long message from where it lies. `op` ends in fetched(), now or later.
void engine::state::fetch(operation& op, job_rank job_source, std::uint64_t sender_operation,
                          const fabric::remote_address& from, std::size_t bytes) noexcept {
  SINEW_EXPECT(sender_operation != 0);  // it waits for our word
  prepare(op, bytes);
  if (!op.data.type->dense() && op.outcome.bytes != 0) {
    op.packed.reset(new (std::nothrow) std::byte[op.outcome.bytes]);
    if (!op.packed) {
      op.outcome.error = fault::no_memory;
      op.outcome.bytes = 0;
    }
  }
  op.peer = job_source;
  op.from = from;
  op.remote_operation = sender_operation;
  if (is_dead(job_source)) [[unlikely]] {
    op.packed.reset();
    op.outcome.error = fault::peer_failed;
    finish(op);
    return;
  }
  if (op.outcome.bytes == 0) {
    fetched(op);
    return;
  }
  if (job_source == rt.rank()) {
    std::memcpy(op.packed ? op.packed.get() : static_cast<std::byte*>(op.data.base),
                reinterpret_cast<const void*>(from.address), op.outcome.bytes);
    fetched(op);
    return;
  }
  op.todo = step::get;
  submit(op);
}

void engine::state::unpack_whole(operation& op) noexcept {
  if (op.packed) {
    layout::unpack(*op.data.type, op.data.count, op.data.base, 0,
                   {op.packed.get(), op.outcome.bytes});
    op.packed.reset();
  }
}

void engine::state::fetched(operation& op) noexcept {
  if (is_dead(op.peer)) [[unlikely]] {  // or it died just after
    op.packed.reset();
    op.outcome.error = fault::peer_failed;
    finish(op);
    return;
  }
  unpack_whole(op);
  send_control(op.peer, am_matched, {{op.remote_operation, 0}});
  finish(op);
}

inline void engine::state::end_eager(operation& op, const fabric::arrival& a,
                                     const eager_content& what) noexcept {
  set_envelope(op.outcome, a.head);
  deliver(op, what.data, what.bytes);
  if (what.sender_operation != 0) {
    send_control(a.source, am_matched, {{what.sender_operation, 0}});
  }
}

// An eager message, straight from the fabric. Runs in the poller. What it carries is looked at
// after matching: so little has to be kept meanwhile.
template <bool Threads, bool Sync>
bool engine::state::arrived(const fabric::arrival& a) {
  if (!Threads && a.head.word[0] == held_head.word[0]) {
    if (a.head.word[1] == held_head.word[1]) [[likely]] {
      held_head.word[0] = no_context;
      end_eager(*held_back, a, eager_content::of<Sync>(a));
      return true;
    }
    post_held_back();
  }
  const auto context = static_cast<std::uint32_t>(a.head.word[0]);
  if (latest_context.load(std::memory_order_relaxed) != context) [[unlikely]] {
    latest = &channel_of(a);
    latest_context.store(context, std::memory_order_relaxed);
  }
  channel& in = *latest;
  if constexpr (Threads) {
    return arrived_among_threads<Sync>(in, a);
  } else {
    matched& m = *spare;
    m.sent = envelope_in(a.head);
    match::receive* const met = in.matcher.alone().arrive(m);
    if (met != nullptr) [[likely]] {
      end_eager(*static_cast<operation*>(met), a, eager_content::of<Sync>(a));
      return true;
    }
    if (store_eager(in, a, eager_content::of<Sync>(a))) {
      return true;
    }
    in.matcher.alone().withdraw(m);
    return false;
  }
}

template <bool Sync>
bool engine::state::arrived_among_threads(channel& in, const fabric::arrival& a) {
  matched& m = *spare;
  m.sent = envelope_in(a.head);
  auto held = in.matcher.enter(m.sent);
  match::receive* const met = held.arrive(m);
  if (met == nullptr) {
    if (store_eager(in, a, eager_content::of<Sync>(a))) {
      return true;
    }
    held.withdraw(m);
    return false;
  }
  held.unlock();
  end_eager(*static_cast<operation*>(met), a, eager_content::of<Sync>(a));
  return true;
}

template <bool Threads>
status engine::state::on_eager(void* self, const fabric::arrival& a) noexcept {
  auto& s = *static_cast<state*>(self);
  try {
    return s.arrived<Threads, false>(a) ? status::ok() : s.short_of_memory();
  } catch (const std::bad_alloc&) {
    return s.short_of_memory();
  }
}

template <bool Threads>
status engine::state::on_eager_sync(void* self, const fabric::arrival& a) noexcept {
  if (a.size < sizeof(std::uint64_t)) [[unlikely]] {
    fabric::corrupt_peer(a.source, "a synchronous message does not name its sender", a.size);
  }
  return on<&state::arrived<Threads, true>>(self, a);
}

void engine::state::take_eager(fabric::endpoint& of) {
  take(of, am_eager, threaded ? on_eager<true> : on_eager<false>);
  take(of, am_eager_sync, threaded ? on_eager_sync<true> : on_eager_sync<false>);
}

bool engine::state::arrived_rts(const fabric::arrival& a) {
  rts o;
  if (a.size != sizeof o) [[unlikely]] {
    fabric::corrupt_peer(a.source, "the offer of a long message has a wrong size", a.size);
  }
  std::memcpy(&o, a.data, sizeof o);
  if (peers.make(a.source.index()) == nullptr) [[unlikely]] {
    return false;  // fetch() will need it, when nothing can fail any more
  }
  const meeting found = meet(a, [&](channel& in) {
    matched& m = *spare;
    m.in = &in;
    m.how = matched::way::rts;
    m.sender_operation = o.operation;
    m.from = o.from;
    return store(m, a, nullptr, o.bytes);
  });
  if (found.met != nullptr) {
    fetch(*found.met, a.source, o.operation, o.from, o.bytes);
  }
  return found.met != nullptr || found.stored;
}

inline bool engine::state::store_eager(channel& in, const fabric::arrival& a,
                                       const eager_content& what) noexcept {
  matched& m = *spare;
  m.in = &in;
  m.how = matched::way::eager;
  m.sender_operation = what.sender_operation;
  return store(m, a, what.data, what.bytes);
}

bool engine::state::grow(matched& m, std::size_t bytes) noexcept {
  drop_heap(m);
  m.heap.reset(new (std::nothrow) std::byte[std::bit_ceil(bytes)]);
  if (m.heap == nullptr) {
    return false;
  }
  m.heap_bytes = std::bit_ceil(bytes);
  if (m.heap_bytes > matched::always_kept) {
    large_heaps.fetch_add(m.heap_bytes, std::memory_order_relaxed);
  }
  return true;
}

void engine::state::drop_heap(matched& m) noexcept {
  if (m.heap_bytes > matched::always_kept) {
    large_heaps.fetch_sub(m.heap_bytes, std::memory_order_relaxed);
  }
  m.heap.reset();
  m.heap_bytes = 0;
}

// The engine holds `m` (the spare) now: fill in the rest while its part's lock keeps others from
// finding it, and provide the next spare. Senders that outrun us are told to send an RTS first.
bool engine::state::store(matched& m, const fabric::arrival& a, const std::byte* data,
                          std::size_t bytes) noexcept {
  SINEW_EXPECT(&m == spare && m.in != nullptr);
  peer_state* const from = peers.make(a.source.index());
  matched* const next = from != nullptr ? messages.get() : nullptr;
  if (next == nullptr) {
    return false;
  }
  m.bytes = bytes;
  m.job_source = a.source;
  m.charged = 0;
  if (m.how != matched::way::rts) {
    m.charged = sizeof(matched);
    std::byte* at = m.small.data();
    if (bytes > matched::inline_bytes) {
      if (m.heap_bytes < bytes && !grow(m, bytes)) {
        messages.put(next);
        return false;
      }
      m.charged += std::bit_ceil(bytes);
      at = m.heap.get();
    }
    if (data != nullptr) {
      copy_out(at, data, bytes);
    }
    if (change(from->charged, m.charged) > unexpected_limit &&
        !from->throttle_sent.load(std::memory_order_relaxed)) [[unlikely]] {
      throttle(a.source, true);
    }
  }
  SINEW_ENSURE(bytes <= matched::inline_bytes || m.how == matched::way::rts ||
               m.heap_bytes >= bytes);
  spare = next;
  return true;
}

// Several threads may be here at once, for and against. Whoever changed `throttle_sent` says so,
// and looks again afterwards: what was said last is then what holds.
void engine::state::throttle(job_rank peer, bool on) noexcept {
  std::atomic<bool>& throttle_sent = state_of(peer).throttle_sent;
  bool said = !on;
  if (!throttle_sent.compare_exchange_strong(said, on, std::memory_order_seq_cst)) {
    return;
  }
  for (said = !on; throttle_sent.load(std::memory_order_seq_cst) != said;) {
    said = !said;
    send_control(peer, am_throttle, {{said ? 1U : 0U, 0}});
  }
}

void engine::state::discard(matched* m) noexcept {
  SINEW_EXPECT(m != nullptr && m->in != nullptr);
  if (m->charged != 0) {
    peer_state& p = state_of(m->job_source);
    SINEW_ASSERT(p.charged.load(std::memory_order_relaxed) >= m->charged);
    if (change(p.charged, 0 - m->charged) < unexpected_limit / 2 &&
        p.throttle_sent.load(std::memory_order_relaxed)) [[unlikely]] {
      throttle(m->job_source, false);
    }
    m->charged = 0;
    if (m->heap_bytes > matched::always_kept &&
        large_heaps.load(std::memory_order_relaxed) > most_large_heaps) {
      drop_heap(*m);
    }
  }
  messages.put(m);
}

}  // namespace sinew::p2p
