// SPDX-License-Identifier: BSD-3-Clause
#include "event/peer_table.hpp"

#include <new>
#include <string>

#include "sinew/base/error.hpp"

namespace sinew::event {

peer_table::peer_table(job_rank rank, int size, number_lists& lists)
    : rank_(rank),
      lists_(lists),
      peers_(static_cast<std::size_t>(size)),
      batches_(static_cast<std::size_t>(size)) {
  SINEW_EXPECT(rank.below(size));
  gathered_for_.reserve(static_cast<std::size_t>(size));
}

void peer_table::refuse_rank(job_rank rank) {
  throw error("cannot use an event or a rank",
              "there is no rank " + to_string(rank) + " in this job", "pass handles as they are");
}

void peer_table::make_page(peer& p, job_rank rank, std::size_t page) {
  try {
    p.pages.resize(std::max(p.pages.size(), page + 1));
    p.pages[page] = std::make_unique<entry[]>(entries_per_page);
  } catch (const std::bad_alloc&) {
    throw error("cannot use an event of rank " + to_string(rank),
                "there is no memory to note what is known of it", "free some");
  }
  SINEW_ENSURE(p.pages[page] != nullptr);
}

/// When `known` itself does not say it.
graph::place peer_table::find_further(const entry& known, event e) const {
  if (known.mixed_ != 0) {
    if (const run* const r = mixed_.at(slot_key(e)).find(e.generation())) {
      SINEW_ASSERT(known.alias_ == 0 || known.awaited_ != e.generation());
      return {0, r->poisoned ? state::poisoned : state::triggered};
    }
  }
  if (known.several_ != 0) {
    auto [more, end] = more_aliases_.equal_range(slot_key(e));
    for (; more != end; ++more) {
      if (more->second.generation == e.generation()) {
        return {more->second.alias, state::pending};
      }
    }
  }
  return {0, at(e.owner()).lost ? state::poisoned : state::pending};
}

// One rank is the word itself, plus 1.
void peer_table::subscribe(std::uint32_t& subscribers, job_rank rank) {
  SINEW_EXPECT(rank != rank_ && rank.index() < peers_.size());
  const auto r = static_cast<std::uint32_t>(rank.value());
  if (subscribers == 0) {
    subscribers = r + 1;
    return;
  }
  std::uint32_t list = (subscribers & many_ranks) != 0 ? subscribers & ~many_ranks : 0;
  if (list == 0) {
    lists_.put(list, subscribers - 1);
  }
  lists_.put(list, r);
  subscribers = list | many_ranks;
}

}  // namespace sinew::event
