// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/failures.hpp"

#include <algorithm>
#include <vector>

#include "p2p/backlog.hpp"
#include "p2p/channels.hpp"
#include "p2p/inflows.hpp"
#include "p2p/meeting.hpp"
#include "p2p/message.hpp"
#include "p2p/peers.hpp"
#include "p2p/receive.hpp"
#include "p2p/send.hpp"
#include "p2p/state.hpp"
#include "p2p/tagged.hpp"
#include "p2p/unexpected.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/core/losses.hpp"

namespace sinew::p2p {
namespace {

constexpr std::int64_t look_period_ns = 100'000;

}  // namespace

failure_watch::failure_watch(const parts& p)
    : all_(p),
      survivors_(p.rt.session().survivors()),
      chore_(p.rt.add_chore([](void* s) { return static_cast<failure_watch*>(s)->look(); }, this,
                            core::chore_place::anywhere,
                            core::losses::ring_for(p.rt, [](void* s, bool begins) {
                              return !begins || static_cast<failure_watch*>(s)->end_all() == 0;
                            }))) {
  core::losses::of(p.rt).listen(
      core::loss_listener::messages,
      [](void* s, job_rank dead) { static_cast<failure_watch*>(s)->note(dead); }, this);
}

failure_watch::~failure_watch() {
  core::losses::of(all_.rt).stop_listening(core::loss_listener::messages);
}

fault failure_watch::fault_of(const channel& in, comm_rank source) const noexcept {
  if (in.revoked.load(std::memory_order_relaxed)) {
    return fault::revoked;
  }
  const std::uint32_t losses = strangers_lost_.load(std::memory_order_relaxed);
  if (in.comm == nullptr || (survivors_ == nullptr && losses == 0)) {
    return fault::none;
  }
  if (source != any_source) {
    const job_rank from = in.sources()[source];
    return all_.peers.is_dead(from) ? fault::peer_failed : fault::none;
  }
  const auto members = in.sources().members();
  if (losses != 0 && std::any_of(members.begin(), members.end(), [this](job_rank each) {
        return all_.peers.is_stranger(each) && all_.peers.is_dead(each);
      })) {
    return fault::peer_failed_pending;
  }
  const std::uint32_t deaths = survivors_ != nullptr ? survivors_->deaths() : 0;
  for (std::uint32_t i = in.acknowledged.load(std::memory_order_relaxed); i < deaths; ++i) {
    if (in.comm->members().find(survivors_->dead(i)) >= 0) {
      return fault::peer_failed_pending;
    }
  }
  return fault::none;
}

// A send that has not begun.
bool failure_watch::end_failed(operation& op, job_rank to) noexcept {
  SINEW_EXPECT(op.in != nullptr);
  const bool revoked = op.in->revoked.load(std::memory_order_relaxed);
  if (!revoked && !all_.peers.is_dead(to)) {
    return false;
  }
  end_with(op, revoked ? fault::revoked : fault::peer_failed);
  return true;
}

void failure_watch::begin_looking() {
  any_.store(true, std::memory_order_relaxed);
  looked_ns_ = 0;
  all_.rt.want_chore(chore_, true);
}

void failure_watch::note(job_rank dead) {
  all_.peers.slow(dead).set(slow_bits::dead | slow_bits::failing);
  dead_members_.push_back(dead);
  begin_looking();
}

void failure_watch::stranger_lost(job_rank who) {
  SINEW_EXPECT(all_.peers.is_stranger(who));
  all_.peers.slow(who).set(slow_bits::dead | slow_bits::failing);
  lost_strangers_.push_back(who);
  strangers_lost_.fetch_add(1, std::memory_order_relaxed);
  begin_looking();
}

bool failure_watch::forget_stranger(job_rank who) noexcept {
  SINEW_EXPECT(all_.peers.is_dead(who));
  base::must_have_memory("forgetting a rank of another job", [&] { end_sends_to(who); });
  if (all_.waiting.waits_for(who) || !all_.unexpected.forget(who)) {
    return false;
  }
  std::erase(lost_strangers_, who);
  all_.peers.slow(who).clear(slow_bits::dead | slow_bits::failing | slow_bits::throttled);
  return true;
}

bool failure_watch::is_interrupted(const operation& op) const noexcept {
  return any() && op.is_from_any() && op.unmatched.load(std::memory_order_relaxed) && !op.done() &&
         fault_of(*op.in, any_source) == fault::peer_failed_pending;
}

// A receive from any source does not end when one of them has died: it is interrupted.
void failure_watch::find_failed(channel& in, std::vector<failed_receive>& failed) {
  const bool meets = meeting_table::is_of(in);
  const auto held = in.matcher.gathered();
  const auto collect = [&](const match::receive& r) {
    const bool from_any = static_cast<const operation&>(r).is_from_any();
    const fault f = meets ? all_.meetings.fault_of(r.wanted)
                          : fault_of(in, from_any ? any_source : r.wanted.source);
    if (f != fault::none && f != fault::peer_failed_pending) {
      failed.push_back({static_cast<operation*>(const_cast<match::receive*>(&r)), f});
    }
  };
  held.all().each_receive(
      [](void* c, const match::receive& r) { (*static_cast<decltype(&collect)>(c))(r); },
      const_cast<void*>(static_cast<const void*>(&collect)));
}

// In the poller: nothing arrives meanwhile, so that what is found stays posted, and keeps its
// channel.
std::size_t failure_watch::end_receives() {
  all_.receives.post_held_back();
  std::vector<failed_receive> failed;
  all_.channels.each([&](channel& in) {
    find_failed(in, failed);
    all_.network.end_receives(in);
  });
  for (const auto& [op, why] : failed) {
    all_.receives.end_posted(*op, why);
  }
  return failed.size();
}

void failure_watch::end_with(operation& op, fault why) noexcept {
  if (op.exposed) {
    all_.peers.endpoint_to(op.peer).withdraw(op.from.key);
    op.exposed = false;
  }
  all_.operations.fail(op, why);
}

std::size_t failure_watch::end_sends_to(job_rank peer) {
  std::vector<operation*> ended;
  all_.waiting.take(peer, ended);
  all_.pieces.take(peer, ended);
  for (operation* op : ended) {
    if (op->in == nullptr) {  // a word that nobody waits for
      all_.operations.give_back(op);
    } else {
      end_with(*op, fault::peer_failed);
    }
  }
  return ended.size();
}

// Sends that wait for an answer in a revoked communicator: their receives have ended, too.
std::size_t failure_watch::end_revoked_sends() {
  std::vector<operation*> ended;
  all_.waiting.take_unanswered(
      ended, [](const operation& op) { return op.in->revoked.load(std::memory_order_relaxed); });
  for (operation* op : ended) {
    end_with(*op, fault::revoked);
  }
  return ended.size();
}

/// How many operations.
std::size_t failure_watch::end_all() {
  return base::must_have_memory("ending operations with a rank that has died", [&] {
    std::size_t ended = 0;
    for (const auto* const dead : {&dead_members_, &lost_strangers_}) {
      for (const job_rank each : *dead) {
        ended += end_sends_to(each);
      }
    }
    ended += end_revoked_sends();
    return ended + end_receives();
  });
}

int failure_watch::look() {
  if (!any() || now_ns() - looked_ns_ < look_period_ns) {
    return 0;
  }
  (void)end_all();
  looked_ns_ = now_ns();
  if (dead_members_.empty() && lost_strangers_.empty() && !any_revoked_) {
    any_.store(false, std::memory_order_relaxed);
    all_.rt.want_chore(chore_, false);
  }
  return 1;
}

void failure_watch::mark_revoked(std::uint32_t context, job_rank by) {
  SINEW_EXPECT(context % 2 == 0);
  for (const std::uint32_t each : {context, context + 1}) {
    channel& in = all_.channels.of(each);
    in.revoked_by = by;
    in.revoked.store(true, std::memory_order_relaxed);
  }
  for (job_rank r = 0; r.below(all_.peers.size()); ++r) {
    all_.peers.slow(r).set(slow_bits::failing);
  }
  any_revoked_ = true;
  any_.store(true, std::memory_order_relaxed);
  all_.rt.want_chore(chore_, true);
}

void failure_watch::revoke(const core::communicator& comm) {
  const std::uint32_t context = comm.context().value();
  mark_revoked(context, all_.rt.rank());
  for (const job_rank peer : comm.members().members()) {
    if (peer != all_.rt.rank() && !all_.peers.is_dead(peer)) {
      all_.sends.control(peer, am_revoke, {{context, 0}});
    }
  }
}

void failure_watch::forget_old_revocation(channel& in, const core::communicator& comm) noexcept {
  if (in.revoked.load(std::memory_order_relaxed) && comm.members().find(in.revoked_by) < 0) {
    in.revoked.store(false, std::memory_order_relaxed);
  }
}

// Who hears of it first tells all others, since who said it may die before it has told everybody.
void failure_watch::arrived_revoke(const fabric::arrival& a) noexcept {
  base::must_have_memory("revoking a communicator", [&] {
    const auto context = static_cast<std::uint32_t>(a.head.word[0]);
    const core::group members = all_.channels.members_of(context);
    const bool stranger = members.size() != 0 && members.find(a.source) < 0;
    if (stranger || all_.channels.of(context).revoked.load(std::memory_order_relaxed)) {
      return;
    }
    mark_revoked(context, a.source);
    for (const job_rank peer : members.members()) {
      if (peer != all_.rt.rank() && peer != a.source && !all_.peers.is_dead(peer)) {
        all_.sends.control(peer, am_revoke, {{context, 0}});
      }
    }
  });
}

bool failure_watch::has_dead(const core::communicator& comm) const noexcept {
  for (std::uint32_t i = 0; survivors_ != nullptr && i < survivors_->deaths(); ++i) {
    if (comm.members().find(survivors_->dead(i)) >= 0) {
      return true;
    }
  }
  return false;
}

// What is known of its place is of another rank, which has ended.
void engine::meet(job_rank peer, std::uint32_t tenant) {
  state& s = *state_;
  if (s.peers.is_stranger(peer) || s.peers.network().meet(peer, tenant)) {
    return;
  }
  s.failures.end_sends_to(peer);
  s.peers.slow(peer).clear(slow_bits::throttled);
  runtime_.meet(peer, tenant);
}

void engine::revoke(const core::communicator& comm) {
  if (!is_revoked(comm)) {
    state_->failures.revoke(comm);
  }
}

bool engine::is_revoked(const core::communicator& comm) {
  return messages_of(comm).revoked.load(std::memory_order_relaxed);
}

bool engine::has_dead(const core::communicator& comm) const noexcept {
  return state_->failures.has_dead(comm);
}

bool engine::is_dead(job_rank rank) const noexcept {
  return core::losses::of(runtime_).is_dead(rank);
}

bool engine::is_from_any(const request& r) noexcept {
  return static_cast<const operation&>(r).is_from_any();
}

bool engine::is_interrupted(const request& r) const noexcept {
  return state_->failures.is_interrupted(static_cast<const operation&>(r));
}

void engine::acknowledge(const core::communicator& comm, std::uint32_t deaths) {
  messages_of(comm).acknowledged.store(deaths, std::memory_order_relaxed);
}

std::uint32_t engine::acknowledged(const core::communicator& comm) {
  return messages_of(comm).acknowledged.load(std::memory_order_relaxed);
}

}  // namespace sinew::p2p
