#include "sinew/p2p/engine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "p2p/state.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/core/losses.hpp"

namespace sinew::p2p {
namespace {

constexpr std::size_t least_unexpected_limit = 256 * 1024;

setting<std::int64_t> eager_bytes(
    "p2p", "eager_limit", 8192, "bytes",
    "longest message sent in one packet before its receive is known; a packet holds 8k, so larger "
    "values mean 8k",
    {.least = 0, .most = most_setting_bytes});
setting<std::int64_t> push_bytes(
    "p2p", "push_limit", std::int64_t{128} << 10, "bytes",
    "longer messages up to this size are sent in pieces before their receive is known, where the "
    "processors are near each other",
    {.least = 0, .most = most_setting_bytes});
// Between nodes a get takes a round trip more, and a piece is a message of the network.
setting<std::int64_t> net_eager_bytes(
    "p2p", "net_eager_limit", std::int64_t{64} << 10, "bytes",
    "longest message to a rank of another node that is sent at once, before its receive is known; "
    "the network carries 64k in one message, so larger values mean 64k",
    {.least = 0, .most = most_setting_bytes});
setting<std::int64_t> net_push_bytes(
    "p2p", "net_push_limit", std::int64_t{256} << 10, "bytes",
    "longer messages to ranks of other nodes, up to this size, are sent in pieces before their "
    "receive is known",
    {.least = 0, .most = most_setting_bytes});
setting<std::int64_t> unexpected_bytes(
    "p2p", "unexpected_limit", std::int64_t{64} << 20, "bytes",
    "unexpected messages a rank holds before it makes their senders wait",
    {.least = least_unexpected_limit, .most = most_setting_bytes});

}  // namespace

engine::state::state(core::runtime& runtime)
    : rt(runtime),
      net(runtime.endpoint()),
      near_ranks(runtime.reach()),
      tags(net.tags()),
      threaded(runtime.threaded() || tags != nullptr),
      max_short(net.bounds().max_short),
      eager_limit(std::min(static_cast<std::size_t>(eager_bytes()), net.bounds().max_medium)),
      at_once_limit(std::min(max_short, eager_limit)),
      push_limit(static_cast<std::size_t>(push_bytes())),
      net_eager_limit(static_cast<std::size_t>(net_eager_bytes())),
      net_push_limit(static_cast<std::size_t>(net_push_bytes())),
      unexpected_limit(std::max(
          least_unexpected_limit,
          static_cast<std::size_t>(unexpected_bytes()) / static_cast<std::size_t>(rt.size()))),
      plain_bytes(&layout::of(layout::element::byte)),
      operations(threaded),
      messages(threaded),
      spare(messages.get()),
      slow(std::make_unique<slow_bits[]>(
          static_cast<std::size_t>(near_ranks + core::outside::room))),
      peers(static_cast<std::size_t>(near_ranks + core::outside::room)),
      directory(std::make_unique<std::atomic<page*>[]>(pages)),
      survivors(rt.session().survivors()) {
  if (spare == nullptr) {
    throw std::bad_alloc();
  }
  SINEW_CHECK(sizeof(rts) <= max_short && max_short <= net.bounds().max_medium,
              "this network cannot carry messages",
              "an RTS takes " + std::to_string(sizeof(rts)) + " bytes and a line has " +
                  std::to_string(max_short),
              "use another back-end");
  SINEW_ENSURE(at_once_limit <= eager_limit && eager_limit <= net.bounds().max_medium);
  set_handlers(net);
  prepare_for_failures();
  prepare_tags();
  rt.set_chore([](void* s) { return static_cast<state*>(s)->retry_backlog(); }, this);
  rt.set_diagnosis([](void* s) { static_cast<state*>(s)->diagnose(); }, this);
}

// Those of messages that can be observed are `plain` until somebody observes them.
void engine::state::set_handlers(fabric::endpoint& of) {
  take_eager(of);
  take(of, am_rts, on<&state::arrived_rts>);
  take(of, am_push, on<&state::arrived_push>);
  of.set_handler(
      am_piece,
      [](void* s, const fabric::arrival& a) noexcept {
        static_cast<state*>(s)->arrived_piece(a);
        return status::ok();
      },
      this);
  of.set_handler(
      am_matched,
      [](void* s, const fabric::arrival& a) noexcept {
        static_cast<state*>(s)->arrived_matched(a);
        return status::ok();
      },
      this);
  of.set_handler(
      am_throttle,
      [](void* s, const fabric::arrival& a) noexcept {
        slow_bits& its = static_cast<state*>(s)->slow[a.source.index()];
        if (a.head.word[0] != 0) {
          its.set(slow_bits::throttled);
        } else {
          its.clear(slow_bits::throttled);
        }
        return status::ok();
      },
      this);
  of.set_handler(
      am_revoke,
      [](void* s, const fabric::arrival& a) noexcept {
        static_cast<state*>(s)->arrived_revoke(a);
        return status::ok();
      },
      this);
  of.set_handler(
      am_withdraw,
      [](void* s, const fabric::arrival& a) noexcept {
        static_cast<state*>(s)->arrived_withdraw(a);
        return status::ok();
      },
      this);
}

// A receive has met a message of ours that its sender waits for, or whose data it has copied; or
// the message is withdrawn.
void engine::state::arrived_matched(const fabric::arrival& a) noexcept {
  auto& op = *reinterpret_cast<operation*>(a.head.word[0]);
  if (outlives(a.source)) {
    base::guard held(flow_lock, threaded);
    if (std::erase(unanswered, &op) == 0) {
      return;  // it has ended with a fault meanwhile
    }
  }
  SINEW_EXPECT(!op.done() && op.peer == a.source);
  if (op.exposed) {
    way_to(a.source).withdraw(op.from.key);
  }
  op.packed.reset();
  {
    base::guard held(flow_lock, threaded);
    SINEW_ASSERT(state_of(a.source).rts_pending > 0);
    --state_of(a.source).rts_pending;
  }
  op.outcome.error = a.head.word[1] == 0 ? fault::none : fault::cancelled;
  finish(op);
}

// Comes behind the message. If that is not stored any more a receive or a matched probe has it, and
// its sender hears of that.
void engine::state::arrived_withdraw(const fabric::arrival& a) noexcept {
  const std::uint64_t sender_operation = a.head.word[0];
  const fabric::header of{{a.head.word[1], 0}};
  channel& in = channel_of({a.source, of, nullptr, 0});
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
    discard(wanted.found);
    send_control(a.source, am_matched, {{sender_operation, 1}});
  }
}

engine::state::~state() {
  core::losses::of(rt).stop_listening(core::loss_listener::messages);
  for (std::size_t p = 0; p < pages; ++p) {
    page* at = directory[p].load(std::memory_order_relaxed);
    if (at != nullptr) {
      for (auto& slot : *at) {
        delete slot.load(std::memory_order_relaxed);
      }
      delete at;
    }
  }
}

engine::engine(core::runtime& rt)
    : runtime_(rt),
      state_(std::make_unique<state>(rt)),
      outlives_ranks_(state_->survivors != nullptr) {}
engine::~engine() = default;

void engine::drain() {
  runtime_.wait_until(
      [](void* s) {
        auto& self = *static_cast<state*>(s);
        base::guard held(self.flow_lock, self.threaded);
        return self.backlogged_peers == 0;
      },
      state_.get());
  state_->report_statistics();
}

static_assert(sizeof(request) + sizeof(match::receive) + sizeof(buffer) + 2 * sizeof(void*) <= 128);

void engine::state::no_operation() { throw std::bad_alloc(); }

void engine::state::keep(operation& op, const buffer& data) {
  SINEW_EXPECT(!data.type->dense());
  op.data = data;
  op.keeps = layout::share(*data.type);
}

void engine::state::let_go(operation& op) {
  op.keeps = {};
  op.packed.reset();
}

void engine::release(request* r) {
  SINEW_EXPECT(r != nullptr);
  auto* op = static_cast<operation*>(r);
  if (op->done()) [[likely]] {
    state_->give_back(op);
    return;
  }
  op->orphan.fire = [](core::waiter& w) noexcept {
    operation* self = static_cast<operation::orphan_waiter&>(w).self;
    self->owner->give_back(self);
  };
  op->orphan.self = op;
  op->owner = state_.get();
  if (!op->attach(op->orphan)) {
    state_->give_back(op);
  }
}

bool engine::cancel(request& r) {
  auto& op = static_cast<operation&>(r);
  SINEW_EXPECT(op.in != nullptr);
  if (op.in->away != nullptr && state_->cancel_tagged(op)) [[unlikely]] {
    runtime_.poll();
    return op.done() && op.outcome.error == fault::cancelled;
  }
  return state_->end_posted(op, fault::cancelled);
}

void engine::cancel_send(request& r) {
  auto& op = static_cast<operation&>(r);
  SINEW_EXPECT(op.in != nullptr);
  const bool waits_for_receive = op.handler == am_rts || op.handler == am_eager_sync;
  if (!op.done() && waits_for_receive && !std::exchange(op.withdrawing, true)) {
    // Behind the message, which may still be in the backlog.
    state_->send_control_in_order(op.peer, am_withdraw,
                                  {{reinterpret_cast<std::uint64_t>(&op), op.in->context}});
  }
}

result engine::exchange(const core::communicator& comm, channel& in, const buffer& from,
                        comm_rank dest, message_tag send_tag, const buffer& into, comm_rank source,
                        message_tag recv_tag) {
  request* receiving = irecv(comm, in, into, source, recv_tag);
  send(comm, in, from, dest, send_tag);
  state_->await(static_cast<operation&>(*receiving));
  const result ended = receiving->outcome;
  release(receiving);
  return ended;
}

namespace {

result about(const matched& m) {
  return {m.sent.source, m.sent.tag, m.bytes, m.bytes, fault::none};
}

/// What a probe looks for, and what it found.
struct search {
  channel& in;
  match::envelope wanted;
  bool take;
  engine::state& state;
  matched* found = nullptr;
  result seen{};
  /// An engine may need memory to prepare for wildcards, or refuse them.
  std::exception_ptr failure{};

  bool look() noexcept try {
    if (!state.threaded) {
      return look_in(in.matcher.alone());
    }
    if (in.away != nullptr) [[unlikely]] {
      state.bring(in);
    }
    auto held = in.matcher.enter(wanted);
    return look_in(held);
  } catch (...) {
    failure = std::current_exception();
    return true;
  }
  /// Throws, in the thread that searches, what was met while looking; whoever looks may be another.
  void check() const {
    if (failure) [[unlikely]] {
      std::rethrow_exception(failure);
    }
  }

 private:
  template <class Where>
  bool look_in(Where& where) {
    auto* m = static_cast<matched*>(take ? where.take(wanted) : where.peek(wanted));
    if (m == nullptr && state.any_failure.load(std::memory_order_relaxed)) [[unlikely]] {
      const fault f = state.fault_of(in, wanted.source);
      seen.source = wanted.source;
      seen.error = f == fault::peer_failed_pending ? fault::peer_failed : f;
      return seen.error != fault::none;
    }
    if (m != nullptr) {
      found = m;
      seen = about(*m);  // under the lock: without `take`, another thread may receive it next
    }
    return m != nullptr;
  }
};

bool look(void* s) noexcept { return static_cast<search*>(s)->look(); }

/// Waits, listed meanwhile.
void wait_for(engine::state& state, search& s) {
  if (s.look()) {
    return;
  }
  engine::state::probe listed{s.in, s.wanted};
  {
    const base::guard held(state.probes_lock, state.threaded);
    listed.next = state.probes;
    state.probes = &listed;
  }
  state.rt.wait_until(look, &s);
  const base::guard held(state.probes_lock, state.threaded);
  engine::state::probe** at = &state.probes;
  while (*at != &listed) {
    at = &(*at)->next;
  }
  *at = listed.next;
}

/// Once, after a round of progress; without waiting. What had arrived before ends a loop of polls.
bool look_once(engine::state& state, search& s) {
  state.rt.poll();
  if (s.look()) {
    state.rt.end_of_polls();
    state.probed_in.store(engine::state::no_context, std::memory_order_relaxed);
    return true;
  }
  state.probed_in.store(s.in.context, std::memory_order_relaxed);
  state.probed_for.store(std::bit_cast<std::uint64_t>(s.wanted), std::memory_order_relaxed);
  return false;
}

}  // namespace

std::optional<result> engine::iprobe(const core::communicator& /*comm*/, channel& in,
                                     comm_rank source, message_tag tag) {
  if (source == no_rank) {
    return result{};
  }
  search s{in, {source, tag}, false, *state_};
  const bool any = look_once(*state_, s);
  s.check();
  return any ? std::optional(s.seen) : std::nullopt;
}

result engine::probe(const core::communicator& /*comm*/, channel& in, comm_rank source,
                     message_tag tag) {
  if (source == no_rank) {
    return {};
  }
  search s{in, {source, tag}, false, *state_};
  wait_for(*state_, s);
  s.check();
  return s.seen;
}

matched* engine::improbe(const core::communicator& /*comm*/, channel& in, comm_rank source,
                         message_tag tag, result& found) {
  search s{in, {source, tag}, true, *state_};
  (void)look_once(*state_, s);
  s.check();
  found = s.seen;
  return s.found;
}

matched* engine::mprobe(const core::communicator& /*comm*/, channel& in, comm_rank source,
                        message_tag tag, result& found) {
  search s{in, {source, tag}, true, *state_};
  wait_for(*state_, s);
  s.check();
  found = s.seen;
  return s.found;
}

request* engine::imrecv(matched* m, const buffer& into) {
  SINEW_EXPECT(m != nullptr && m->in != nullptr);
  operation* op = state_->make(m->in, into);
  state_->consume(*op, m);
  return op;
}

result engine::mrecv(matched* m, const buffer& into) {
  request* r = imrecv(m, into);
  wait(*r);
  const result ended = r->outcome;
  release(r);
  return ended;
}

}  // namespace sinew::p2p
