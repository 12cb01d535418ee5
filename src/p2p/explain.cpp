// SPDX-License-Identifier: BSD-3-Clause
// What a thread of this rank waits for, for the launcher: a receive, a send, a probe, a collective.
#include <algorithm>
#include <string>

#include "p2p/describe.hpp"
#include "p2p/state.hpp"
#include "sinew/boot/wait_report.hpp"

namespace sinew::p2p {
namespace {

using boot::awaited;

void add_source(awaited& to, const channel& in, comm_rank source) {
  if (in.comm != nullptr && source >= 0 && source.below(in.sources().size()) &&
      to.ranks.size() < boot::most_awaited_ranks) {
    to.ranks.push_back(in.sources()[source].value());
  }
}

/// Of the collective that this rank is in, if that is in this channel.
bool explain_collective(const channel& in, awaited& to) {
  if (channel_table::kind_of(in.context) == 0 || in.comm == nullptr) {
    return false;
  }
  const core::collective_call now = in.comm->collective.load();
  if (now.name == nullptr) {
    return false;
  }
  to.what = awaited::kind::collective;
  to.collective = now.name;
  to.communicator = name_of(in);
  to.root = now.root < 0 ? -1 : now.root.value();
  to.number = in.comm->collective_count;
  if (to.ranks.empty()) {
    add_source(to, in, now.awaited);
  }
  return true;
}

/// A search among the receives of a channel, and what has come there.
struct search {
  const void* waited;
  const operation* found = nullptr;
  const matched* other = nullptr;  ///< from its source, with a tag that it does not take

  static void receive(void* self, const match::receive& r) {
    auto& s = *static_cast<search*>(self);
    const auto& op = static_cast<const operation&>(r);
    s.found = static_cast<const core::completion*>(&op) == s.waited ? &op : s.found;
  }
  static void message(void* self, const match::message& m) {
    auto& s = *static_cast<search*>(self);
    s.other = m.sent.source == s.found->wanted.source ? static_cast<const matched*>(&m) : s.other;
  }
};

/// A receive of that channel which no message has met.
bool explain_receive(channel& in, network_matching& network, const void* waited, awaited& to) {
  const base::guard still = network.hold(in);
  const auto held = in.matcher.gathered();
  search s{waited};
  held.all().each_receive(search::receive, &s);
  if (in.away != nullptr) {
    in.away->each_receive(search::receive, &s);
  }
  if (s.found == nullptr) {
    return false;
  }
  add_source(to, in, s.found->wanted.source);
  if (channel_table::kind_of(in.context) != 0) {
    return explain_collective(in, to);
  }
  held.all().each_message(search::message, &s);
  to.what = awaited::kind::receive;
  to.communicator = name_of(in);
  to.tag = s.found->wanted.tag == any_tag ? -1 : s.found->wanted.tag.value();
  to.bytes = static_cast<std::int64_t>(s.found->data.bytes());
  to.other_tag = s.other != nullptr ? s.other->sent.tag.value() : -1;
  return true;
}

/// A send that its receiver has not answered, or a receive whose data are on their way.
void explain_operation(const operation& op, awaited& to) {
  if (op.peer.value() >= 0) {
    to.ranks.assign(1, op.peer.value());
  }
  if (channel_table::kind_of(op.in->context) != 0) {
    (void)explain_collective(*op.in, to);
    return;
  }
  const bool sends = op.handler == am_eager || op.handler == am_eager_sync || op.handler == am_rts;
  to.what = sends ? awaited::kind::send : awaited::kind::other;
  to.communicator = name_of(*op.in);
  to.tag = sends ? envelope_in(op.head).tag.value() : -1;
  to.bytes = static_cast<std::int64_t>(op.data.bytes());
}

}  // namespace

bool engine::state::explain(const void* waited, boot::awaited& what) {
  receives.post_held_back();
  bool known = probes.explain(waited, what);
  channels.each([&](channel& in) { known = known || explain_receive(in, network, waited, what); });
  const operation* found = nullptr;
  if (!known) {
    operations.each([&](const operation& op) {
      found = static_cast<const core::completion*>(&op) == waited ? &op : found;
    });
  }
  if (found != nullptr && found->in != nullptr) {
    explain_operation(*found, what);
    known = what.what != awaited::kind::other;
  }
  channels.each([&](channel& in) { known = known || explain_collective(in, what); });
  return known;
}

bool engine::explain(const request& waited, boot::awaited& what) {
  return state_->explain(static_cast<const core::completion*>(&waited), what);
}

}  // namespace sinew::p2p
