// SPDX-License-Identifier: BSD-3-Clause
// Events of other ranks: where the graph, the peer table and the courier meet. All that waits here
// for another rank's event depends on a slot of ours, its alias, which triggers when the
// owner's message has come.
#include <string>

#include "event/body.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/log.hpp"
#include "sinew/boot/session.hpp"
#include "sinew/event/barrier.hpp"

namespace sinew::event {

// --- down: graph -> peers -> courier ---

graph::place system::body::find_remote(event e) {
  SINEW_EXPECT(e.exists() && e.owner() != self.rank_);
  peer_table::entry& known = peers.entry_of(e);
  const graph::place found = peers.find(known, e);
  if (found.slot != 0 || found.known != state::pending) {
    return found;
  }
  SINEW_CHECK(e.generation() != 0 && e.index() != 0, "cannot use an event",
              "its handle was never given out by its owner", "pass handles as they are");
  const std::uint32_t alias = events.create_alias();
  try {
    peers.await(known, e, alias);
  } catch (...) {
    events.drop_alias(alias);
    throw;
  }
  remote.subscribe(e);
  return {alias, state::pending};
}

void system::body::trigger_remote(user_event e, bool bad) {
  if (!peers.is_lost(e.owner())) {
    remote.trigger(e, bad);
  }
}

bool system::cancel(event e) {
  section s(*body_);
  if (e.exists() && e.owner() != rank_) {
    if (!body_->peers.is_lost(e.owner())) {
      body_->remote.cancel(e);
    }
    return false;
  }
  const bool done = e.exists() && body_->cancel_here(e);
  s.work();
  return done;
}

// --- up: courier -> peers -> graph ---

void system::body::on_message(void* context, const event_message& m) {
  auto& b = *static_cast<body*>(context);
  if (m.what == event_message::kind::lost) {
    if (m.rank != b.self.rank_) {
      b.self.lost(m.rank);
    }
    return;
  }
  section s(b);
  try {
    b.handle(m);
  } catch (const error& e) {
    b.refuse(m, e);
  }
  s.work();
}

void system::body::learn(event newest, const run& how) {
  peers.learn(newest, how,
              [this](std::uint32_t alias, bool poisoned) { events.trigger(alias, poisoned); });
}

void system::body::handle(const event_message& m) {
  switch (m.what) {
    case event_message::kind::subscribe:
      if (const graph::place f = events.find(m.about); f.known == state::pending) {
        peers.subscribe(events.subscribers(f.slot), m.source);
      } else {
        remote.settled(m.source, m.about, events.settled_run(m.about));
      }
      break;
    case event_message::kind::trigger:
      triggered_from(m.source, m.about, m.poisoned);
      break;
    case event_message::kind::settled:
      learn(m.about, m.how);
      break;
    case event_message::kind::batch:
      for (std::size_t i = 0; i < m.events; ++i) {
        const event each = m[i];
        SINEW_ASSERT(each.owner() == m.source);
        learn(each, {1, each.generation(), false});
      }
      break;
    case event_message::kind::cancel:
      (void)cancel_here(m.about);
      break;
    case event_message::kind::lost:
      SINEW_ASSERT(false);  // on_message() has seen to it
  }
}

/// The message names an event that does not exist: if its sender waits for it, it is poisoned
/// there.
void system::body::refuse(const event_message& m, const error& why) {
  log_line(log_level::error, "a message of rank " + to_string(m.source) +
                                 " about an event is refused: " + why.what());
  if (m.what == event_message::kind::subscribe) {
    const std::uint32_t only = m.about.generation();
    remote.settled(m.source, m.about, {only, only, true});
  }
}

void system::body::triggered_from(job_rank rank, event e, bool bad) {
  const graph::place f = events.find(e);
  if (f.known == state::poisoned && events.forgive(e)) {
    return;
  }
  if (f.known != state::pending || !events.awaits_program(f.slot)) {
    log_line(log_level::error, "rank " + to_string(rank) + " triggered " + describe(e) +
                                   " which had triggered or will by itself: ignored");
    return;
  }
  events.trigger(f.slot, bad);
}

// --- losses ---

/// False if that is known.
bool system::body::lose(job_rank rank) {
  section s(*this);
  if (peers.is_lost(rank)) {
    return false;
  }
  remote.lost(rank);
  const std::vector<event> entrusted = peers.lose(
      rank, [this](std::uint32_t alias, bool poisoned) { events.trigger(alias, poisoned); });
  for (const event e : entrusted) {
    (void)cancel_here(e);
  }
  SINEW_ENSURE(peers.is_lost(rank));
  s.work();
  return true;
}

void system::lost(job_rank rank) {
  SINEW_CHECK(rank.below(size_) && rank != rank_, "cannot give up a rank",
              "rank " + to_string(rank) + " is this one or none", "name another rank");
  if (!body_->lose(rank)) {
    return;
  }
  barriers_->lost(rank);
  for (const auto& [call, context] : body_->on_loss) {
    call(context, rank);
  }
}

void system::entrust(event e, job_rank rank) {
  SINEW_CHECK(e.exists() && e.owner() == rank_, "cannot entrust an event to a rank",
              "it is not one of this rank", "entrust an event where it was created");
  section s(*body_);
  if (body_->peers.is_lost(rank)) {
    (void)body_->cancel_here(e);
    s.work();
    return;
  }
  body_->peers.entrust(
      e, rank, [this](event old) { return body_->events.find(old).known == state::pending; });
}

void system::on_lost(void (*call)(void*, job_rank), void* context) {
  std::erase_if(body_->on_loss, [context](const auto& m) { return m.second == context; });
  if (call != nullptr) {
    body_->on_loss.emplace_back(call, context);
  }
}

bool system::is_lost(job_rank rank) const noexcept {
  SINEW_EXPECT(rank.below(size_));
  const section s(*body_);
  return body_->peers.is_lost(rank);
}

}  // namespace sinew::event
