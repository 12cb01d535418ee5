// Ranks of other jobs: their messages go by a network of their own (core/outside.hpp). A bit that
// every send looks at anyhow leads to it, so that the others cost what they did.
#include "p2p/state.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"

namespace sinew::p2p {

void engine::state::open_outside() {
  static base::lock opening;
  const base::guard held(opening, true);
  if (far.load(std::memory_order_relaxed) != nullptr) {
    return;
  }
  auto made = std::make_unique<core::outside>(
      rt, core::outside::user{
              this, [](void* s, job_rank r) { static_cast<state*>(s)->stranger_lost(r); },
              [](void* s, job_rank r) { return static_cast<state*>(s)->forget_stranger(r); }});
  core::outside& others = *made.release();  // the process's from here on, as the engine is
  for (int i = 0; i < core::outside::room; ++i) {
    slow[static_cast<std::size_t>(near_ranks + i)].set(slow_bits::stranger);
  }
  far.store(&others.endpoint(), std::memory_order_release);
  set_handlers(others.endpoint());
  others.begin();
}

core::outside& engine::outside() {
  outlives_ranks_.store(true, std::memory_order_relaxed);
  state_->open_outside();
  core::outside* const made = core::outside::of(runtime_);
  SINEW_ENSURE(made != nullptr);
  return *made;
}

// In the poller, as what follows.
void engine::state::stranger_lost(job_rank who) {
  SINEW_EXPECT(is_stranger(who));
  lost_strangers.push_back(who);
  slow[who.index()].set(slow_bits::dead | slow_bits::failing);
  strangers_lost.fetch_add(1, std::memory_order_relaxed);
  any_failure.store(true, std::memory_order_relaxed);
  looked_ns = 0;
  rt.want_chore(failure_chore, true);
}

bool engine::state::forget_stranger(job_rank who) noexcept {
  SINEW_EXPECT(is_dead(who));
  if (peer_state* const p = peers.find(who.index()); p != nullptr) {
    base::must_have_memory("forgetting a rank of another job", [&] { end_sends_to(who); });
    base::guard held(flow_lock, threaded);
    const bool used = p->charged.load(std::memory_order_relaxed) != 0 || p->draining ||
                      p->backlog != nullptr || p->rts_pending != 0 ||
                      (slow[who.index()].get() & slow_bits::backlogged) != 0;
    if (used) {
      return false;
    }
    p->throttle_sent.store(false, std::memory_order_relaxed);
  }
  std::erase(lost_strangers, who);
  slow[who.index()].clear(slow_bits::dead | slow_bits::failing | slow_bits::throttled);
  return true;
}

fault engine::state::fault_in_meeting(const match::envelope& wanted) {
  const base::guard held(meetings_lock, threaded);
  for (const meeting_of& each : meetings) {
    if (each.tag == wanted.tag && wanted.source.below(each.comm->size()) &&
        is_dead(each.comm->job_rank(wanted.source))) {
      return fault::peer_failed;
    }
  }
  return fault::none;
}

void engine::attach_meeting(core::communicator& comm, message_tag tag) {
  SINEW_EXPECT(comm.context().value() == meeting_context);
  state& s = *state_;
  channel& messages = s.channel_of(meeting_context);
  channel& collectives = s.channel_of(meeting_context + 1);
  const base::guard held(s.meetings_lock, s.threaded);
  if (s.any_meeting == nullptr) {
    s.any_meeting = std::make_unique<core::communicator>(
        comm.context(), core::group(std::vector<job_rank>{runtime_.rank()}), comm_rank{0});
    s.any_meeting->name = "of jobs that meet";
    messages.comm = collectives.comm = s.any_meeting.get();
  }
  s.meetings.push_back({tag, &comm});
  comm.attached.set(messages_slot, &messages);
  comm.attached.set(collectives_slot, &collectives);
}

void engine::end_meeting(const core::communicator& comm) noexcept {
  state& s = *state_;
  const base::guard held(s.meetings_lock, s.threaded);
  std::erase_if(s.meetings, [&](const state::meeting_of& each) { return each.comm == &comm; });
}

}  // namespace sinew::p2p
