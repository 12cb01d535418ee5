#include "region/operations.hpp"

#include "sinew/base/error.hpp"

namespace sinew::region {

using sinew::event::event;
using sinew::event::user_event;

event operations::issue(transfer& t, job_rank executor, event before) {
  SINEW_EXPECT(t.post == 0 && t.bytes != 0);
  SINEW_EXPECT(executor.below(events_.size()));
  if (executor == events_.rank() && events_.has_triggered(before)) {
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
  after(events_, before, [this, t, executor](bool bad) {
    if (bad) {
      finish(events_, t.post, false);
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
  const outcome how = mover_.carry_out(t);
  if (how == outcome::passed_on) {
    return;  // the last message triggers the event
  }
  if (how != outcome::refused) {
    return finish(events_, t.post, how == outcome::done);
  }
  try {
    const job_rank sender = sender_of(t);
    SINEW_ASSERT(sender != events_.rank());  // or it would have sent it
    start(t, sender);
  } catch (const error& e) {  // an instance was destroyed meanwhile
    problems_.add(e.what());
    finish(events_, t.post, false);
  }
}

void operations::take_delivery(const delivery& d, const std::byte* elements, bool last) {
  const bool good = mover_.place(d, elements);
  if (last) {
    finish(events_, d.of.post, good);
  }
}

}  // namespace sinew::region
