// SPDX-License-Identifier: BSD-3-Clause
// Communicators and their channels.
#include <string>

#include "p2p/state.hpp"
#include "sinew/base/check.hpp"

namespace sinew::p2p {

match_report engine::matching(const core::communicator& comm) {
  const channel& in = messages_of(comm);
  const auto& m = in.matcher;
  const std::size_t away = in.away != nullptr ? in.away->posted() : 0;
  return {m.name(), m.counts(), m.posted() + away, m.unexpected()};
}

void engine::match_by(core::communicator& comm, std::string_view name) {
  channel& in = messages_of(comm);
  if (in.matcher.name() == name || state_->steers != nullptr) {
    return;
  }
  state_->receives.post_held_back(in);
  in.matcher.replace_by(match::make_engine(name));
}

void engine::promise_exact_length(core::communicator& comm, bool promised) {
  messages_of(comm).exact_length.store(promised, std::memory_order_relaxed);
}

void engine::attach(core::communicator& comm) {
  const std::uint32_t context = comm.context().value();
  SINEW_CHECK(context < channel_table::first_partitioned,
              "cannot create communicator " + std::to_string(context / 2),
              "there are contexts for " + std::to_string(channel_table::first_partitioned / 2) +
                  " at a time",
              "free communicators that are no longer used");
  SINEW_EXPECT(comm.attached.get(messages_slot) == nullptr);
  channel& messages = state_->channels.of(context);
  channel& collectives = state_->channels.of(context + 1);
  SINEW_ASSERT(messages.comm == nullptr && collectives.comm == nullptr);  // else two have it
  failure_watch::forget_old_revocation(messages, comm);
  failure_watch::forget_old_revocation(collectives, comm);
  messages.comm = &comm;
  collectives.comm = &comm;
  state_->network.match_for(messages);
  comm.attached.set(messages_slot, &messages);
  comm.attached.set(collectives_slot, &collectives);
}

void engine::attach_as(core::communicator& comm, const core::communicator& whose) {
  SINEW_EXPECT(comm.context() == whose.context() && messages_of(whose).comm == &whose);
  SINEW_EXPECT(comm.attached.get(messages_slot) == nullptr);
  comm.attached.set(messages_slot, &messages_of(whose));
  messages_of(whose).remote = comm.members();
  comm.attached.set(collectives_slot, &collectives_of(whose));
}

channel& engine::channel_for(const core::communicator& comm, partitioned what) {
  const core::communicator* const owner = messages_of(comm).comm;
  SINEW_EXPECT(owner != nullptr && owner->context() == comm.context());
  return state_->channels.of_partitioned(*owner, what == partitioned::data);
}

bool engine::detach(core::communicator& comm) {
  SINEW_EXPECT(messages_of(comm).comm == &comm && collectives_of(comm).comm == &comm);
  state_->receives.forget_latest();
  bool empty = true;
  for (const std::uint32_t from :
       {0U, static_cast<std::uint32_t>(channel_table::first_partitioned)}) {
    for (const std::uint32_t which : {0U, 1U}) {
      const std::uint32_t context = from + comm.context().value() + which;
      SINEW_ASSERT(!state_->receives.holds_back(context));  // it would be lost
      empty = state_->channels.drop(context) && empty;
    }
  }
  if (state_->threaded) {
    state_->rt.want_chore(state_->burial, true);
  } else {
    state_->bury_channels();
  }
  comm.attached.clear(messages_slot);
  comm.attached.clear(collectives_slot);
  return empty;
}

}  // namespace sinew::p2p
