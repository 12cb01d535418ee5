// Ranks that die, and communicators that are revoked: what is under way with them ends with a
// fault. Whoever polls looks after it, at most every 100 us, and only once something has failed; so
// an operation need not ask when it begins. Sends do, by a bit that they look at anyhow.
#include <algorithm>
#include <vector>

#include "p2p/state.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/core/losses.hpp"

namespace sinew::p2p {
namespace {

constexpr std::int64_t look_period_ns = 100'000;

}  // namespace

bool engine::state::is_dead(job_rank r) const noexcept {
  SINEW_EXPECT(r.below(near_ranks + core::outside::room));
  return (slow[r.index()].get() & slow_bits::dead) != 0;
}

fault engine::state::fault_of(const channel& in, comm_rank source) const noexcept {
  if (in.revoked.load(std::memory_order_relaxed)) {
    return fault::revoked;
  }
  const std::uint32_t losses = strangers_lost.load(std::memory_order_relaxed);
  if (in.comm == nullptr || (survivors == nullptr && losses == 0)) {
    return fault::none;
  }
  if (source != any_source) {
    const job_rank from = in.sources()[source];
    return is_dead(from) ? fault::peer_failed : fault::none;
  }
  const auto members = in.sources().members();
  if (losses != 0 && std::any_of(members.begin(), members.end(), [this](job_rank each) {
        return is_stranger(each) && is_dead(each);
      })) {
    return fault::peer_failed_pending;
  }
  const std::uint32_t deaths = survivors != nullptr ? survivors->deaths() : 0;
  for (std::uint32_t i = in.acknowledged.load(std::memory_order_relaxed); i < deaths; ++i) {
    if (in.comm->members().find(survivors->dead(i)) >= 0) {
      return fault::peer_failed_pending;
    }
  }
  return fault::none;
}

// A send that has not begun.
bool engine::state::end_failed(operation& op, job_rank to) noexcept {
  SINEW_EXPECT(op.in != nullptr);
  const bool revoked = op.in->revoked.load(std::memory_order_relaxed);
  if (!revoked && !is_dead(to)) {
    return false;
  }
  end_with(op, revoked ? fault::revoked : fault::peer_failed);
  return true;
}

void engine::state::note_death(job_rank dead) {
  slow[dead.index()].set(slow_bits::dead | slow_bits::failing);
  dead_members.push_back(dead);
  any_failure.store(true, std::memory_order_relaxed);
  looked_ns = 0;
  rt.want_chore(failure_chore, true);
}

bool engine::state::is_interrupted(const operation& op) const noexcept {
  return any_failure.load(std::memory_order_relaxed) && op.wanted.source == any_source &&
         op.unmatched.load(std::memory_order_relaxed) && !op.done() &&
         fault_of(*op.in, any_source) == fault::peer_failed_pending;
}

// Of a receive. False if a message has met it.
bool engine::state::end_posted(operation& op, fault why) {
  const match::envelope wanted = op.wanted;
  auto& matcher = op.in->matcher;
  const bool removed = threaded ? [&] {
    auto held = matcher.enter(wanted);
    return !op.done() && held.cancel(op);
  }()
                                : !op.done() && matcher.alone().cancel(op);
  if (removed) {
    op.outcome = {};
    op.outcome.source = wanted.source;
    op.outcome.tag = wanted.tag;
    op.outcome.error = why;
    finish(op);
  }
  return removed;
}

// In the poller: nothing arrives meanwhile, so that what is collected stays posted. A receive from
// any source does not end when one of them has died: it is interrupted.
void engine::state::end_receives(channel& in) {
  if (held_head.word[0] == in.context) {
    post_held_back();
  }
  std::vector<operation*> ended;
  const bool meets = in.context / 2 == meeting_context / 2;
  {
    const auto held = in.matcher.gathered();
    const auto collect = [&](const match::receive& r) {
      const fault f = meets ? fault_in_meeting(r.wanted) : fault_of(in, r.wanted.source);
      if (f != fault::none && f != fault::peer_failed_pending) {
        ended.push_back(static_cast<operation*>(const_cast<match::receive*>(&r)));
      }
    };
    held.all().each_receive(
        [](void* c, const match::receive& r) { (*static_cast<decltype(&collect)>(c))(r); },
        const_cast<void*>(static_cast<const void*>(&collect)));
  }
  for (operation* op : ended) {
    end_posted(*op, meets ? fault::peer_failed : fault_of(in, op->wanted.source));
  }
}

void engine::state::end_with(operation& op, fault why) noexcept {
  if (op.exposed) {
    way_to(op.peer).withdraw(op.from.key);
    op.exposed = false;
  }
  op.packed.reset();
  op.outcome.error = why;
  finish(op);
}

// Under flow_lock. Those in a backlog are left to it.
template <class Which>
void engine::state::take_unanswered(std::vector<operation*>& to, Which which) {
  const auto waits_for_room = [&](const operation* op) {
    const operation* at = state_of(op->peer).backlog;
    while (at != nullptr && at != op) {
      at = at->next;
    }
    return at != nullptr;
  };
  const auto its =
      std::stable_partition(unanswered.begin(), unanswered.end(),
                            [&](const operation* op) { return !which(*op) || waits_for_room(op); });
  for (auto at = its; at != unanswered.end(); ++at) {
    --state_of((*at)->peer).rts_pending;
    if (std::find(to.begin(), to.end(), *at) == to.end()) {
      to.push_back(*at);
    }
  }
  unanswered.erase(its, unanswered.end());
}

// What waits for a dead rank: for room, for its answer, for its data, for the rest of its message.
void engine::state::end_sends_to(job_rank peer) {
  peer_state& p = state_of(peer);
  std::vector<operation*> ended;
  {
    base::guard held(flow_lock, threaded);
    if (!p.draining) {
      for (operation* op = p.backlog; op != nullptr; op = op->next) {
        ended.push_back(op);
      }
      p.backlog = nullptr;  // retry_backlog() sees that it is empty
    }
    take_unanswered(ended, [&](const operation& op) { return op.peer == peer; });
  }
  {
    base::guard held(inflow_lock, threaded);
    for (inflow& i : inflows) {
      if (i.source == peer && i.op != nullptr) {
        ended.push_back(i.op);
      }
    }
    std::erase_if(inflows, [&](const inflow& i) { return i.source == peer && i.op != nullptr; });
  }
  for (operation* op : ended) {
    if (op->in == nullptr) {  // a word that nobody waits for
      give_back(op);
    } else {
      end_with(*op, fault::peer_failed);
    }
  }
}

// Sends that wait for an answer in a revoked communicator: their receives have ended, too.
void engine::state::end_revoked_sends() {
  std::vector<operation*> ended;
  {
    base::guard held(flow_lock, threaded);
    take_unanswered(
        ended, [](const operation& op) { return op.in->revoked.load(std::memory_order_relaxed); });
  }
  for (operation* op : ended) {
    end_with(*op, fault::revoked);
  }
}

int engine::state::look_for_failures() {
  if (!any_failure.load(std::memory_order_relaxed) || now_ns() - looked_ns < look_period_ns) {
    return 0;
  }
  base::must_have_memory("ending operations with a rank that has died", [&] {
    for (const auto* const dead : {&dead_members, &lost_strangers}) {
      for (const job_rank each : *dead) {
        end_sends_to(each);
      }
    }
    end_revoked_sends();
    std::vector<channel*> all;
    {
      base::guard held(channels_lock, threaded);
      for (std::size_t p = 0; p < pages; ++p) {
        page* at = directory[p].load(std::memory_order_relaxed);
        for (std::size_t c = 0; at != nullptr && c < page_contexts; ++c) {
          if (channel* in = (*at)[c].load(std::memory_order_relaxed); in != nullptr) {
            all.push_back(in);
          }
        }
      }
    }
    for (channel* in : all) {
      end_receives(*in);
      end_tagged_receives(*in);
    }
  });
  looked_ns = now_ns();
  if (dead_members.empty() && lost_strangers.empty() && !any_revoked) {
    any_failure.store(false, std::memory_order_relaxed);
    rt.want_chore(failure_chore, false);
  }
  return 1;
}

void engine::state::revoke(std::uint32_t context, job_rank by) {
  SINEW_EXPECT(context % 2 == 0);
  channel_of(context).revoked_by = by;
  channel_of(context + 1).revoked_by = by;
  channel_of(context).revoked.store(true, std::memory_order_relaxed);
  channel_of(context + 1).revoked.store(true, std::memory_order_relaxed);
  for (job_rank r = 0; r.below(near_ranks + core::outside::room); ++r) {
    slow[r.index()].set(slow_bits::failing);
  }
  any_revoked = true;
  any_failure.store(true, std::memory_order_relaxed);
  rt.want_chore(failure_chore, true);
}

// A word about a communicator that this rank had freed before may come so late that its context has
// another one here. Who revokes keeps the context for ever, and so is no member of that.
void engine::state::forget_old_revocation(channel& in, const core::communicator& comm) noexcept {
  if (in.revoked.load(std::memory_order_relaxed) && comm.members().find(in.revoked_by) < 0) {
    in.revoked.store(false, std::memory_order_relaxed);
  }
}

void engine::state::prepare_for_failures() {
  failure_chore =
      rt.add_chore([](void* s) { return static_cast<state*>(s)->look_for_failures(); }, this);
  core::losses::of(rt).listen(
      core::loss_listener::messages,
      [](void* s, job_rank dead) { static_cast<state*>(s)->note_death(dead); }, this);
}

// Who hears of it first tells all others, since who said it may die before it has told everybody.
void engine::state::arrived_revoke(const fabric::arrival& a) noexcept {
  base::must_have_memory("revoking a communicator", [&] {
    const auto context = static_cast<std::uint32_t>(a.head.word[0]);
    const channel& in = channel_of(context);
    const bool stranger = in.comm != nullptr && in.comm->members().find(a.source) < 0;
    if (stranger || in.revoked.load(std::memory_order_relaxed)) {
      return;
    }
    revoke(context, a.source);
    if (in.comm == nullptr) {
      return;
    }
    for (const job_rank peer : in.comm->members().members()) {
      if (peer != rt.rank() && peer != a.source && !is_dead(peer)) {
        send_control(peer, am_revoke, {{context, 0}});
      }
    }
  });
}

// What is known of its place is of another rank, which has ended.
void engine::meet(job_rank peer, std::uint32_t tenant) {
  state& s = *state_;
  if (s.is_stranger(peer) || s.net.meet(peer, tenant)) {
    return;
  }
  s.end_sends_to(peer);
  s.slow[peer.index()].clear(slow_bits::throttled);
  runtime_.meet(peer, tenant);
}

void engine::revoke(const core::communicator& comm) {
  state& s = *state_;
  if (is_revoked(comm)) {
    return;
  }
  const std::uint32_t context = comm.context().value();
  s.revoke(context, runtime_.rank());
  for (const job_rank peer : comm.members().members()) {
    if (peer != runtime_.rank() && !s.is_dead(peer)) {
      s.send_control(peer, am_revoke, {{context, 0}});
    }
  }
}

bool engine::is_revoked(const core::communicator& comm) {
  return messages_of(comm).revoked.load(std::memory_order_relaxed);
}

bool engine::has_dead(const core::communicator& comm) const noexcept {
  const boot::survival* const known = state_->survivors;
  for (std::uint32_t i = 0; known != nullptr && i < known->deaths(); ++i) {
    if (comm.members().find(known->dead(i)) >= 0) {
      return true;
    }
  }
  return false;
}

bool engine::is_dead(job_rank rank) const noexcept {
  return core::losses::of(runtime_).is_dead(rank);
}

bool engine::is_from_any(const request& r) noexcept {
  return static_cast<const operation&>(r).wanted.source == any_source;
}

bool engine::is_interrupted(const request& r) const noexcept {
  return state_->is_interrupted(static_cast<const operation&>(r));
}

void engine::acknowledge(const core::communicator& comm, std::uint32_t deaths) {
  messages_of(comm).acknowledged.store(deaths, std::memory_order_relaxed);
}

std::uint32_t engine::acknowledged(const core::communicator& comm) {
  return messages_of(comm).acknowledged.load(std::memory_order_relaxed);
}

}  // namespace sinew::p2p
