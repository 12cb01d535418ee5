// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/receive.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "p2p/backlog.hpp"
#include "p2p/failures.hpp"
#include "p2p/inflows.hpp"
#include "p2p/observe.hpp"
#include "p2p/peers.hpp"
#include "p2p/send.hpp"
#include "p2p/state.hpp"
#include "p2p/tagged.hpp"
#include "p2p/unexpected.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::p2p {

receiver::receiver(const parts& p, bool threaded, bool posts_all, bool hears_kinds)
    : all_(p),
      threaded_(threaded),
      posts_all_(posts_all),
      hears_kinds_(hears_kinds),
      spare_(p.unexpected.get()) {
  if (spare_ == nullptr) {
    throw std::bad_alloc();
  }
}

inline void receiver::post(operation& op) {
  SINEW_EXPECT(!op.done());
  match::message* const met = threaded_ ? post_among_threads(op) : op.in->matcher.alone().post(op);
  if (met != nullptr) {
    consume(op, static_cast<matched*>(met));
  }
}

match::message* receiver::post_among_threads(operation& op) {
  if (op.in->away != nullptr) [[unlikely]] {
    return all_.network.post(op);
  }
  return op.in->matcher.enter(op.wanted).post(op);
}

inline void receiver::post_late(operation& op, comm_rank source, message_tag tag) {
  if (posts_all_ || held_head_.word[0] != channel_table::no_context ||
      op.in->matcher.alone().posted() != 0 || op.in->matcher.alone().unexpected() != 0) {
    post(op);
    return;
  }
  SINEW_ASSERT(!threaded_);
  held_back_ = &op;
  held_head_ = make_header(*op.in, tag, source);
}

void receiver::post_held() {
  const std::uint64_t context = held_head_.word[0];
  SINEW_EXPECT(context != channel_table::no_context && held_back_ != nullptr);
  held_head_.word[0] = channel_table::no_context;
  try {
    post(*held_back_);
  } catch (...) {
    held_head_.word[0] = context;
    throw;
  }
}

// Who blocks in a receive from any source has to hear of the death of one: it ends.
void receiver::await(operation& op) {
  if (!all_.peers.outlives_any() || !op.is_from_any()) {
    all_.rt.wait(op);
    return;
  }
  post_held_back(*op.in);
  struct condition {
    const failure_watch& failures;
    const operation& op;
  } either{all_.failures, op};
  all_.rt.wait_until(
      [](void* c) {
        const auto& [failures, received] = *static_cast<condition*>(c);
        return received.done() || failures.is_interrupted(received);
      },
      &either);
  if (!op.done() && !end_posted(op, fault::peer_failed)) {
    all_.rt.wait(op);  // a message has met it meanwhile
  }
}

bool receiver::end_posted(operation& op, fault why) {
  const match::envelope wanted = op.wanted;
  auto& matcher = op.in->matcher;
  const bool removed = threaded_ ? [&] {
    auto held = matcher.enter(wanted);
    return !op.done() && held.cancel(op);
  }()
                                 : !op.done() && matcher.alone().cancel(op);
  if (removed) {
    op.outcome = {};
    op.outcome.source = wanted.source;
    op.outcome.tag = wanted.tag;
    op.outcome.error = why;
    all_.operations.finish(op);
  }
  return removed;
}

namespace {

/// A receive that is not posted yet. Throws std::bad_alloc.
inline operation* start_receive(engine::state& s, channel& in, const buffer& into, comm_rank source,
                                message_tag tag) {
  SINEW_EXPECT(source >= any_source && tag >= any_tag);
  s.receives.post_held_back(in);
  operation* op = s.operations.make(&in, into);
  op->wanted = {source, tag};
  if (source == any_source) {
    op->unmatched.store(true, std::memory_order_relaxed);
  }
  return op;
}

}  // namespace

request* engine::irecv(const core::communicator& /*comm*/, channel& in, const buffer& into,
                       comm_rank source, message_tag tag) {
  state& s = *state_;
  if (source == no_rank) {
    operation* op = s.operations.make(&in, into);
    op->outcome = {};
    op->complete_alone();
    return op;
  }
  operation* op = start_receive(s, in, into, source, tag);
  try {
    s.receives.post(*op);
  } catch (...) {  // it is stored nowhere
    s.operations.give_back(op);
    throw;
  }
  return op;
}

result engine::recv(const core::communicator& /*comm*/, channel& in, const buffer& into,
                    comm_rank source, message_tag tag) {
  if (source == no_rank) {
    return {};
  }
  state& s = *state_;
  operation* op = start_receive(s, in, into, source, tag);
  try {
    s.receives.post_late(*op, source, tag);
  } catch (...) {
    s.operations.give_back(op);
    throw;
  }
  s.receives.await(*op);
  const result ended = op->outcome;
  s.operations.give_back(op);
  return ended;
}

void receiver::consume(operation& op, matched* m) noexcept {
  SINEW_EXPECT(m->in == op.in);
  op.outcome.source = m->sent.source;
  op.outcome.tag = m->sent.tag;
  op.outcome.kinds = m->kinds;
  if (all_.observers.is_told()) [[unlikely]] {
    all_.observers.tell_met(*m);
  }
  const job_rank from = m->job_source;
  const std::uint64_t waits = m->sender_operation;
  if (m->how == matched::way::tagged) [[unlikely]] {
    const fabric::tagged::waiting what = m->tagged;
    m->in->stored_tagged.fetch_sub(1, std::memory_order_relaxed);
    all_.unexpected.discard(m);
    all_.network.take(op, what);
    return;
  }
  if (m->how == matched::way::fault) [[unlikely]] {
    const fault why = m->why;
    all_.unexpected.discard(m);
    all_.operations.fail(op, why);
    return;
  }
  if (m->how == matched::way::pushed && all_.pieces.take_over(op, *m)) {
    all_.unexpected.discard(m);
    return;
  }
  if (m->how == matched::way::rts) {
    const fabric::remote_address at = m->from;
    const std::size_t bytes = m->bytes;
    all_.unexpected.discard(m);
    fetch(op, from, waits, at, bytes);
    return;
  }
  copy_eager(op, m->data(), m->bytes);
  all_.operations.finish(op);
  all_.unexpected.discard(m);
  if (waits != 0) {
    all_.sends.control(from, am_matched, {{waits, 0}});
  }
}

// Brings a long message from where it lies. `op` ends in fetched(), now or later.
void receiver::fetch(operation& op, job_rank job_source, std::uint64_t sender_operation,
                     const fabric::remote_address& from, std::size_t bytes) noexcept {
  SINEW_EXPECT(sender_operation != 0);  // it waits for our word
  learn_length(op, bytes);
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
  if (all_.peers.is_dead(job_source)) [[unlikely]] {
    all_.operations.fail(op, fault::peer_failed);
    return;
  }
  if (op.outcome.bytes == 0) {
    fetched(op);
    return;
  }
  if (job_source == all_.rt.rank()) {
    std::memcpy(op.packed ? op.packed.get() : static_cast<std::byte*>(op.data.base),
                reinterpret_cast<const void*>(from.address), op.outcome.bytes);
    fetched(op);
    return;
  }
  op.todo = step::get;
  op.fetches = this;
  all_.waiting.submit(op);
}

void receiver::fetched(operation& op) noexcept {
  if (all_.peers.is_dead(op.peer)) [[unlikely]] {  // or it died just after
    all_.operations.fail(op, fault::peer_failed);
    return;
  }
  unpack_whole(op);
  all_.sends.control(op.peer, am_matched, {{op.remote_operation, 0}});
  all_.operations.finish(op);
}

template <bool Threads>
inline void receiver::end_eager(operation& op, const fabric::arrival& a,
                                const eager_content& what) noexcept {
  set_envelope(op.outcome, a.head);
  copy_eager(op, what.data, what.bytes);
  Threads ? op.complete() : op.complete_alone();
  if (what.sender_operation != 0) {
    all_.sends.control(a.source, am_matched, {{what.sender_operation, 0}});
  }
}

// An eager message, straight from the fabric. Runs in the poller. What it carries is looked at
// after matching: so little has to be kept meanwhile.
template <bool Threads, bool Sync>
bool receiver::arrived(const fabric::arrival& a) {
  if (!Threads && a.head.word[0] == held_head_.word[0]) {
    if (a.head.word[1] == held_head_.word[1]) [[likely]] {
      held_head_.word[0] = channel_table::no_context;
      end_eager<Threads>(*held_back_, a, eager_content::of<Sync>(a));
      return true;
    }
    post_held();
  }
  const auto context = static_cast<std::uint32_t>(a.head.word[0]);
  if (latest_context_.load(std::memory_order_relaxed) != context) [[unlikely]] {
    latest_ = &all_.channels.of(a);
    latest_context_.store(context, std::memory_order_relaxed);
  }
  channel& in = *latest_;
  if constexpr (Threads) {
    return arrived_among_threads<Sync>(in, a);
  } else {
    matched& m = *spare_;
    m.sent = envelope_in(a.head);
    match::receive* const met = in.matcher.alone().arrive(m);
    if (met != nullptr) [[likely]] {
      end_eager<Threads>(*static_cast<operation*>(met), a, eager_content::of<Sync>(a));
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
bool receiver::arrived_among_threads(channel& in, const fabric::arrival& a) {
  matched& m = *spare_;
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
  end_eager<true>(*static_cast<operation*>(met), a, eager_content::of<Sync>(a));
  return true;
}

template <bool Sync>
bool receiver::arrived_with_kinds(const fabric::arrival& a) {
  const auto what = eager_content::of<Sync>(a);
  const meeting found = meet(
      a, what.bytes,
      [&](matched& m) {
        m.how = matched::way::eager;
        m.sender_operation = what.sender_operation;
      },
      what.data);
  if (found.met != nullptr) {
    copy_eager(*found.met, what.data, what.bytes);
    all_.operations.finish(*found.met);
    if (what.sender_operation != 0) {
      all_.sends.control(a.source, am_matched, {{what.sender_operation, 0}});
    }
  }
  return found.met != nullptr || found.stored != nullptr;
}

bool receiver::arrived_rts(const fabric::arrival& a) {
  rts o;
  if (a.size != sizeof o) [[unlikely]] {
    fabric::corrupt_peer(a.source, "the offer of a long message has a wrong size", a.size);
  }
  std::memcpy(&o, a.data, sizeof o);
  if (!all_.waiting.know(a.source)) [[unlikely]] {
    return false;  // fetch() will need it, when nothing can fail any more
  }
  const meeting found = meet(a, o.bytes, [&](matched& m) {
    m.how = matched::way::rts;
    m.sender_operation = o.operation;
    m.from = o.from;
  });
  if (found.met != nullptr) {
    fetch(*found.met, a.source, o.operation, o.from, o.bytes);
  }
  return found.met != nullptr || found.stored != nullptr;
}

bool receiver::arrived_fault(const fabric::arrival& a) {
  const auto why = static_cast<fault>(a.head.word[0] >> 32);
  if (why == fault::none || why > fault::revoked) [[unlikely]] {
    fabric::corrupt_peer(a.source, "what it says of a message that will not come is no fault",
                         a.head.word[0] >> 32);
  }
  const fabric::header head{{context_in(a.head), a.head.word[1]}};
  const meeting found = meet({a.source, head, nullptr, 0}, 0, [&](matched& m) {
    m.how = matched::way::fault;
    m.why = why;
  });
  if (found.met != nullptr) {
    all_.operations.fail(*found.met, why);
  }
  return found.met != nullptr || found.stored != nullptr;
}

// Senders that outrun us are told to send an RTS first.
bool receiver::store(const fabric::arrival& a, const std::byte* data, std::size_t bytes) noexcept {
  matched* const next = all_.unexpected.keep(*spare_, a, data, bytes);
  spare_ = next != nullptr ? next : spare_;
  return next != nullptr;
}

inline bool receiver::store_eager(channel& in, const fabric::arrival& a,
                                  const eager_content& what) noexcept {
  matched& m = *spare_;
  m.in = &in;
  m.how = matched::way::eager;
  m.sender_operation = what.sender_operation;
  return store(a, what.data, what.bytes);
}

// Comes behind the message. If that is not stored any more a receive or a matched probe has it, and
// its sender hears of that.
void receiver::arrived_withdraw(const fabric::arrival& a) noexcept {
  const std::uint64_t sender_operation = a.head.word[0];
  const fabric::header of{{a.head.word[1], 0}};
  channel& in = all_.channels.of({a.source, of, nullptr, 0});
  struct search {
    job_rank source;
    std::uint64_t sender_operation;
    matched* found;
  } wanted{a.source, sender_operation, nullptr};
  base::must_have_memory("withdrawing a message", [&] {
    auto held = in.matcher.gathered();
    held.all().each_message(
        [](void* s, const match::message& each) {
          auto& look = *static_cast<search*>(s);
          const auto& m = static_cast<const matched&>(each);
          if (m.sender_operation == look.sender_operation && m.job_source == look.source) {
            look.found = const_cast<matched*>(&m);
          }
        },
        &wanted);
    if (wanted.found != nullptr) {
      held.withdraw(*wanted.found);
    }
  });
  if (wanted.found != nullptr) {
    all_.unexpected.discard(wanted.found);
    all_.sends.control(a.source, am_matched, {{sender_operation, 1}});
  }
}

namespace {

template <bool (receiver::*Arrived)(const fabric::arrival&)>
status on_eager_sync(void* self, const fabric::arrival& a) noexcept {
  if (a.size < sizeof(std::uint64_t)) [[unlikely]] {
    fabric::corrupt_peer(a.source, "a synchronous message does not name its sender", a.size);
  }
  return storing<&engine::state::receives, Arrived>(self, a);
}

template <bool (receiver::*Arrived)(const fabric::arrival&),
          bool (receiver::*ArrivedSync)(const fabric::arrival&)>
receiver::eager_handlers handlers_of() {
  return {storing<&engine::state::receives, Arrived>, on_eager_sync<ArrivedSync>};
}

}  // namespace

receiver::eager_handlers receiver::handlers() const noexcept {
  return hears_kinds_ ? handlers_of<&receiver::arrived_with_kinds<false>,
                                    &receiver::arrived_with_kinds<true>>()
         : threaded_
             ? handlers_of<&receiver::arrived<true, false>, &receiver::arrived<true, true>>()
             : handlers_of<&receiver::arrived<false, false>, &receiver::arrived<false, true>>();
}

}  // namespace sinew::p2p
