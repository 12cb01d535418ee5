// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/meeting.hpp"

#include "sinew/base/check.hpp"

namespace sinew::p2p {

void meeting_table::attach(core::communicator& comm, message_tag tag) {
  SINEW_EXPECT(comm.context().value() == meeting_context);
  channel& messages = channels_.of(meeting_context);
  channel& collectives = channels_.of(meeting_context + 1);
  const base::guard held(lock_, threaded_);
  if (any_ == nullptr) {
    any_ = std::make_unique<core::communicator>(
        comm.context(), core::group(std::vector<job_rank>{peers_.self()}), comm_rank{0});
    any_->name = "of jobs that meet";
    messages.comm = collectives.comm = any_.get();
  }
  now_.push_back({tag, &comm});
  comm.attached.set(messages_slot, &messages);
  comm.attached.set(collectives_slot, &collectives);
}

void meeting_table::end(const core::communicator& comm) noexcept {
  const base::guard held(lock_, threaded_);
  std::erase_if(now_, [&](const meeting& each) { return each.comm == &comm; });
}

fault meeting_table::fault_of(const match::envelope& wanted) {
  const base::guard held(lock_, threaded_);
  for (const meeting& each : now_) {
    if (each.tag == wanted.tag && wanted.source.below(each.comm->size()) &&
        peers_.is_dead(each.comm->job_rank(wanted.source))) {
      return fault::peer_failed;
    }
  }
  return fault::none;
}

}  // namespace sinew::p2p
