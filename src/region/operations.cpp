// SPDX-License-Identifier: BSD-3-Clause
#include "region/operations.hpp"

#include <array>

#include "sinew/base/error.hpp"

namespace sinew::region {

using sinew::event::event;
using sinew::event::moved_by;
using sinew::event::user_event;

namespace {

std::array<instance, 4> named_in(const transfer& t) {
  return {t.from.of(), t.to.of(), instance::from_bits(t.from.index),
          instance::from_bits(t.to.index)};
}

}  // namespace

event operations::issue(transfer& t, job_rank executor, event before) {
  SINEW_EXPECT(t.post == 0 && t.bytes != 0);
  SINEW_EXPECT(executor.below(events_.size()));
  const bool profiled = sinew::event::profile_is_wanted();
  const bool streamed = t.spread && t.what != action::fill;
  if (!profiled && executor == events_.rank() && events_.has_triggered(before) && !streamed &&
      (table_.one_node() || others_.knows(named_in(t)))) {
    if (before.exists() && events_.look(before) == sinew::event::state::poisoned) {
      return before;
    }
    const outcome how = mover_.carry_out(t);
    SINEW_ASSERT(how != outcome::passed_on);  // that needs `post`
    if (how == outcome::done) {
      return {};
    }
    if (how == outcome::failed) {
      return poisoned(events_);
    }
    executor = sender_of(t);
  }
  const user_event post = events_.create();
  t.post = post.bits();
  t.profile = profiled ? sinew::event::wanted_profile(post) : sinew::event::profile_request{};
  if (executor != events_.rank()) {
    events_.entrust(post, executor);  // poisoned if that is lost
  }
  after(events_, before, [this, t, executor](bool bad) mutable {
    if (t.profile.wanted()) {
      t.profile.is_ready();
    }
    if (bad) {
      finish(events_, t, moved_by::not_moved, false);
    } else {
      start(t, executor);
    }
  });
  return post;
}

void operations::start(const transfer& t, job_rank executor) {
  if (executor == events_.rank()) {
    perform(t);
  } else {
    messages_.perform(executor, t);
  }
}

void operations::perform(const transfer& t) {
  SINEW_EXPECT(t.post != 0);
  if (table_.one_node()) {
    return perform_known(t);
  }
  others_.once_known(named_in(t), [this, t] { perform_known(t); });
}

void operations::perform_known(const transfer& t) {
  moved_by way = moved_by::not_moved;
  if (t.profile.wanted()) [[unlikely]] {
    if (t.profile.started_ns == 0) {
      transfer timed = t;
      timed.profile.has_started();
      return perform_known(timed);
    }
    way = way_of(t);
  }
  const outcome how = mover_.carry_out(t);
  if (how == outcome::passed_on) {
    return;  // the last message triggers the event
  }
  if (how != outcome::refused) {
    return finish(events_, t, way, how == outcome::done);
  }
  try {
    const job_rank sender = sender_of(t);
    SINEW_ASSERT(sender != events_.rank());  // or it would have sent it
    hand_on(t, sender);
  } catch (const error& e) {  // an instance was destroyed meanwhile
    problems_.add(e.what());
    finish(events_, t, moved_by::not_moved, false);
  }
}

/// To another rank. Whoever awaits the event has entrusted it to this one, and so hears from this
/// one if the other is lost.
void operations::hand_on(const transfer& t, job_rank to) {
  transfer one = t;
  if (event::from_bits(t.post).owner() != events_.rank()) {
    const user_event done = events_.create();
    one.post = done.bits();
    after(events_, done, [this, post = t.post](bool bad) { finish(events_, post, !bad); });
  }
  events_.entrust(event::from_bits(one.post), to);
  start(one, to);
}

/// If this rank does it without messages.
moved_by operations::way_of(const transfer& t) const {
  try {
    const owners of = mover_.owners_of(t);
    const job_rank me = events_.rank();
    return of.source_is_far(me) || of.target_is_far(me) ? moved_by::kernel : moved_by::mapped;
  } catch (const error&) {  // an instance was destroyed meanwhile: it will fail
    return moved_by::not_moved;
  }
}

}  // namespace sinew::region
