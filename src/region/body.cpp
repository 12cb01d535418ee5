// SPDX-License-Identifier: BSD-3-Clause
#include "region/body.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "sinew/base/settings.hpp"

namespace sinew::region {
namespace {

setting<std::int64_t> most_instances("region", "INSTANCES", 16384, "",
                                     "instances of a rank for which there is room from the start, "
                                     "and that may be symmetric",
                                     {.least = 1, .most = 1 << instance::index_bits});

shared_heaps heaps_of(rma::engine& memory) {
  shared_heaps all;
  all.rank = memory.rank();
  for (job_rank r = 0; r.below(memory.size()); ++r) {
    all.begins.push_back(memory.mapped({r, 0}));
    if (!memory.maps_all()) {
      all.nodes.push_back(memory.node_of(r));
    }
  }
  return all;
}

/// A symmetric allocation: the same offset on every rank.
instance_table table_of(rma::engine& memory, bool threaded) {
  const auto slots = static_cast<std::uint32_t>(most_instances());
  const std::size_t bytes = instance_table::row_bytes(slots);
  const std::uint64_t slots_at = memory.memory().allocate(rma::part::symmetric, bytes);
  std::memset(memory.at({memory.rank(), slots_at}), 0, bytes);
  return {heaps_of(memory), slots_at, slots, threaded, [&memory](std::size_t more) {
            return memory.memory().try_allocate_high(rma::part::local, more);
          }};
}

}  // namespace

system::body::body(rma::engine& memory, sinew::event::system& all)
    : events(all),
      threaded(memory.runtime().threaded()),
      trouble(threaded),
      table(table_of(memory, threaded)),
      blocks(memory, threaded),
      operators(memory.rank(), threaded),
      messages(all),
      others({all, table, messages}, threaded),
      instances({all, memory, table, blocks, messages, trouble, others}, threaded),
      sent({all, table, operators, messages, trouble, merging}, threaded),
      fetched(all, table, messages, threaded),
      bytes({table, operators, sent, trouble, merging}, memory.runtime().endpoint(), threaded),
      transfers({all, table, bytes, messages, others, trouble}),
      reductions({all, table, operators, trouble, merging}, threaded) {
  SINEW_EXPECT(memory.rank() == all.rank() && memory.size() == all.size());
  messages.open(*this);
  all.on_lost(
      [](void* self, job_rank rank) {
        static_cast<body*>(self)->sent.lost(rank);
        static_cast<body*>(self)->instances.lost(rank);
      },
      this);
}

system::body::~body() {
  events.on_lost(nullptr, this);
  others.close();
  messages.close();
}

division system::body::divide(const known& from, const known& to) const {
  const owners of{from.private_to(), to.private_to()};
  if (table.one_node()) {
    return {};
  }
  const shared_heaps& heaps = table.heaps();
  const std::vector<share> source = shares_of(from, heaps, table.rank());
  const std::vector<share> target = shares_of(to, heaps, table.rank());
  division by = region::divide(source, target, of);
  if (!by.spread && source[0].node == heaps.node_of(table.rank())) {
    by.executors = {transfers.executor_of(action::copy, of)};
  }
  return by;
}

bool system::body::sees(job_rank who, const known& k) const {
  const shared_heaps& heaps = table.heaps();
  const std::vector<share> all = shares_of(k, heaps, table.rank());
  return k.kind == memory_kind::heap ? all[0].rank == who
                                     : all.size() == 1 && all[0].node == heaps.node_of(who);
}

std::vector<sinew::event::event> system::body::issue_all(transfer t, const division& by,
                                                         sinew::event::event before) {
  t.spread = by.spread;
  std::vector<sinew::event::event> ends;
  for (const job_rank executor : by.executors) {
    transfer one = t;  // issue() puts the event into it
    ends.push_back(transfers.issue(one, executor, before));
  }
  return ends;
}

void system::body::send_log(job_rank owner, const log_place& l) {
  SINEW_EXPECT(l.count != 0 && l.offset != 0 && l.done != 0);
  const std::size_t entry = operators.find(l.op).entry_bytes;
  const std::uint64_t most = messages.largest_batch() / entry;
  SINEW_ASSERT(most != 0);
  const std::byte* entries = table.heaps().at(table.rank(), l.offset);
  for (std::uint64_t at = 0; at < l.count; at += most) {
    log_place some = l;
    some.offset = 0;
    some.count = std::min(most, l.count - at);
    some.done = at + some.count == l.count ? l.done : 0;
    messages.batch(owner, some, {entries + at * entry, some.count * entry});
  }
}

void system::body::on_contributions(job_rank sender, const log_place& l, const std::byte* entries,
                                    std::size_t size) {
  if (table.one_node() || !others.keeps_waiting(l.target())) {
    return reductions.apply(sender, l, entries);
  }
  std::vector<std::byte> kept(entries, entries + (entries != nullptr ? size : 0));
  others.in_order(l.target(), [this, sender, l, kept = std::move(kept), here = entries != nullptr] {
    reductions.apply(sender, l, here ? kept.data() : nullptr);
  });
}

}  // namespace sinew::region
