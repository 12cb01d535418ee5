// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/p2p/engine.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "p2p/state.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/lock.hpp"

namespace sinew::p2p {

engine::state::state(core::runtime& runtime, bool tells_kinds)
    : rt(runtime),
      peers(runtime),
      threaded(runtime.threaded() || peers.network().tags() != nullptr),
      operations(threaded),
      unexpected(runtime, peers, sends, threaded),
      waiting(runtime, peers, sends, threaded),
      steers(threaded ? nullptr : steering::of(runtime)),
      channels(network, steers.get(), threaded),
      pieces(operations, receives, threaded),
      meetings(channels, peers, threaded),
      observers({runtime, peers, channels}, this),
      receives({runtime, peers, channels, operations, unexpected, waiting, pieces, sends, network,
                failures, observers},
               threaded, threaded || steers != nullptr || tells_kinds, tells_kinds),
      sends({runtime, peers, operations, waiting, network, failures, observers}),
      failures({runtime, peers, channels, operations, unexpected, waiting, pieces, receives, sends,
                network, meetings}),
      network({runtime, peers, operations, unexpected, waiting, failures, observers}),
      probes({runtime, channels, network, failures}, threaded) {
  set_handlers(peers.network());
  if (tells_kinds) {
    peers.tell_kinds();
  }
  rt.set_chore([](void* s) { return static_cast<state*>(s)->waiting.retry(); }, this);
  rt.set_diagnosis([](void* s) { static_cast<state*>(s)->diagnose(); }, this,
                   [](void* s, const void* waited, boot::awaited& what) {
                     return static_cast<state*>(s)->explain(waited, what);
                   });
  burial = rt.add_chore([](void* s) { return static_cast<state*>(s)->bury_channels(); }, this);
}

engine::state::~state() { rt.drop_chore(burial); }

// Not wanted any more before the channels are taken: who drops another one wants it again after.
int engine::state::bury_channels() noexcept {
  rt.want_chore(burial, false);
  receives.forget_latest();
  return channels.bury();
}

// Those of messages that can be observed are replaced as long as somebody observes them.
void engine::state::set_handlers(fabric::endpoint& of) {
  const receiver::eager_handlers eager = receives.handlers();
  observers.install(of, am_eager, eager.plain);
  observers.install(of, am_eager_sync, eager.sync);
  observers.install(of, am_rts, storing<&state::receives, &receiver::arrived_rts>);
  observers.install(of, am_push, storing<&state::pieces, &inflows::arrived_push>);
  of.set_handler(am_fault, storing<&state::receives, &receiver::arrived_fault>, this);
  of.set_handler(am_piece, hearing<&state::pieces, &inflows::arrived_piece>, this);
  of.set_handler(am_matched, hearing<&state::sends, &sender::arrived_matched>, this);
  of.set_handler(am_throttle, hearing<&state::peers, &peer_table::arrived_throttle>, this);
  of.set_handler(am_revoke, hearing<&state::failures, &failure_watch::arrived_revoke>, this);
  of.set_handler(am_withdraw, hearing<&state::receives, &receiver::arrived_withdraw>, this);
}

void engine::state::open_outside() {
  static base::lock opening;
  const base::guard held(opening, true);
  if (peers.has_strangers()) {
    return;
  }
  auto made = std::make_unique<core::outside>(
      rt,
      core::outside::user{
          &failures, [](void* f, job_rank r) { static_cast<failure_watch*>(f)->stranger_lost(r); },
          [](void* f, job_rank r) { return static_cast<failure_watch*>(f)->forget_stranger(r); }});
  core::outside& others = *made.release();  // the process's from here on, as the engine is
  peers.open_strangers(others.endpoint());
  set_handlers(others.endpoint());
  others.begin();
}

engine::engine(core::runtime& rt, bool tells_kinds)
    : runtime_(rt),
      state_(std::make_unique<state>(rt, tells_kinds)),
      outlives_ranks_(rt.session().survivors() != nullptr) {}
engine::~engine() = default;

void engine::drain() {
  runtime_.wait_until([](void* s) { return static_cast<state*>(s)->waiting.is_empty(); },
                      state_.get());
  const std::string cost = state_->channels.statistics(runtime_.rank());
  std::fwrite(cost.data(), 1, cost.size(), stderr);
}

core::outside& engine::outside() {
  outlives_ranks_.store(true, std::memory_order_relaxed);
  state_->open_outside();
  core::outside* const made = core::outside::of(runtime_);
  SINEW_ENSURE(made != nullptr);
  return *made;
}

void engine::attach_meeting(core::communicator& comm, message_tag tag) {
  state_->meetings.attach(comm, tag);
}

void engine::end_meeting(const core::communicator& comm) noexcept { state_->meetings.end(comm); }

void engine::release(request* r) {
  SINEW_EXPECT(r != nullptr);
  auto* op = static_cast<operation*>(r);
  if (op->done()) [[likely]] {
    state_->operations.give_back(op);
    return;
  }
  state_->operations.give_back_later(*op);
}

bool engine::cancel(request& r) {
  auto& op = static_cast<operation&>(r);
  SINEW_EXPECT(op.in != nullptr);
  if (op.in->away != nullptr && state_->network.cancel(op)) [[unlikely]] {
    runtime_.poll();
    return op.done() && op.outcome.error == fault::cancelled;
  }
  return state_->receives.end_posted(op, fault::cancelled);
}

void engine::cancel_send(request& r) {
  auto& op = static_cast<operation&>(r);
  SINEW_EXPECT(op.in != nullptr);
  const bool waits_for_receive = op.handler == am_rts || op.handler == am_eager_sync;
  if (!op.done() && waits_for_receive && !std::exchange(op.withdrawing, true)) {
    // Behind the message, which may still be in the backlog.
    state_->sends.control_in_order(op.peer, am_withdraw,
                                   {{reinterpret_cast<std::uint64_t>(&op), op.in->context}});
  }
}

result engine::exchange(const core::communicator& comm, channel& in, const buffer& from,
                        comm_rank dest, message_tag send_tag, const buffer& into, comm_rank source,
                        message_tag recv_tag) {
  request* receiving = irecv(comm, in, into, source, recv_tag);
  send(comm, in, from, dest, send_tag);
  state_->receives.await(static_cast<operation&>(*receiving));
  const result ended = receiving->outcome;
  release(receiving);
  return ended;
}

}  // namespace sinew::p2p
