// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/channels.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "p2p/message.hpp"
#include "p2p/steering.hpp"
#include "p2p/tagged.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::p2p {
namespace {

setting<std::string> engine_name("match", "engine", std::string(match::engine_names().front()), "",
                                 "how messages are paired with receives (table: without wildcards)",
                                 match::engine_choices(), setting_use::each_use);

setting<bool> wants_statistics("match", "stats", false, "",
                               "each rank says at its end what matching has cost", {},
                               setting_use::each_use);

}  // namespace

channel_table::channel_table(network_matching& network, steering* steers, bool threaded)
    : network_(network),
      steers_(steers),
      threaded_(threaded),
      directory_(std::make_unique<std::atomic<page*>[]>(pages)) {}

channel_table::~channel_table() {
  bury();
  for (std::size_t p = 0; p < pages; ++p) {
    page* const at = directory_[p].load(std::memory_order_relaxed);
    if (at != nullptr) {
      for (auto& slot : *at) {
        delete slot.load(std::memory_order_relaxed);
      }
      delete at;
    }
  }
}

channel* channel_table::find(std::uint32_t context) const noexcept {
  SINEW_EXPECT(context < contexts);
  const page* const at = directory_[context / page_contexts].load(std::memory_order_acquire);
  return at != nullptr ? (*at)[context % page_contexts].load(std::memory_order_acquire) : nullptr;
}

channel& channel_table::of(std::uint32_t context) {
  if (channel* const there = find(context); there != nullptr) [[likely]] {
    return *there;
  }
  const base::guard held(lock_, threaded_);
  auto& entry = directory_[context / page_contexts];
  page* at = entry.load(std::memory_order_relaxed);
  if (at == nullptr) {
    at = new page();  // the directory's from here on
    entry.store(at, std::memory_order_release);
  }
  auto& slot = (*at)[context % page_contexts];
  if (auto* c = slot.load(std::memory_order_relaxed); c != nullptr) {
    return *c;
  }
  auto fresh = std::make_unique<channel>(context, engine_name());
  if (steers_ != nullptr && context < first_partitioned && kind_of(context) == 0) {
    fresh->matcher.replace_by(steers_->steer(match::make_engine(engine_name())));
  }
  slot.store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

channel& channel_table::of(const fabric::arrival& a) {
  const std::uint32_t context = context_in(a.head);
  if (context >= contexts || envelope_in(a.head).source < 0) [[unlikely]] {
    fabric::corrupt_peer(a.source, "a message names a communicator or a rank that cannot be",
                         context);
  }
  return of(context);
}

channel& channel_table::of_partitioned(const core::communicator& owner, bool data) {
  static_assert(first_partitioned + first_partitioned <= no_context);
  channel& found = of(
      static_cast<std::uint32_t>(first_partitioned + owner.context().value() + (data ? 1U : 0U)));
  const base::guard held(lock_, threaded_);
  SINEW_ASSERT(found.comm == nullptr || found.comm == &owner);
  found.comm = &owner;
  return found;
}

core::group channel_table::members_of(std::uint32_t context) {
  const base::guard held(lock_, threaded_);
  const channel* const in = find(context);
  return in != nullptr && in->comm != nullptr ? in->comm->members() : core::group();
}

bool channel_table::drop(std::uint32_t context) {
  SINEW_EXPECT(context < contexts);
  const base::guard held(lock_, threaded_);
  channel* const gone = find(context);
  if (gone == nullptr) {
    return true;
  }
  gone->comm = nullptr;
  if (gone->revoked.load(std::memory_order_relaxed)) {
    return false;  // words about that may still be under way
  }
  if (gone->matcher.posted() != 0 || (gone->away != nullptr && gone->away->posted() != 0)) {
    return false;  // their requests have been freed: they wait for their messages until the end
  }
  network_.stop_matching(*gone);
  page& at = *directory_[context / page_contexts].load(std::memory_order_relaxed);
  at[context % page_contexts].store(nullptr, std::memory_order_release);
  past_[kind_of(context)] += gone->matcher.counts();
  gone->next_dropped = std::exchange(dropped_, gone);
  return true;
}

int channel_table::bury() noexcept {
  channel* gone = nullptr;
  {
    const base::guard held(lock_, threaded_);
    gone = std::exchange(dropped_, nullptr);
  }
  int ended = 0;
  for (; gone != nullptr; ++ended) {
    delete std::exchange(gone, gone->next_dropped);
  }
  return ended;
}

std::string channel_table::statistics(job_rank self) {
  if (!wants_statistics()) {
    return "";
  }
  const base::guard held(lock_, threaded_);
  std::array<match::search_counts, 2> sums = past_;
  each_there([&](const channel& in) { sums[kind_of(in.context)] += in.matcher.counts(); });
  std::string text;
  for (std::size_t kind : {0, 1}) {
    const match::search_counts& c = sums[kind];
    const auto searches = static_cast<double>(std::max<std::uint64_t>(c.searches, 1));
    char mean[32];
    std::snprintf(mean, sizeof mean, "%.2f", static_cast<double>(c.examined) / searches);
    text += "sinew: rank " + to_string(self) + ": matching of " +
            (kind == 0 ? "messages" : "collectives") + " by " + engine_name() + ": " +
            std::to_string(c.searches) + " searches, " + mean + " entries examined on average, " +
            std::to_string(c.longest) + " at most; at most " + std::to_string(c.most_posted) +
            " receives posted, " + std::to_string(c.most_unexpected) + " messages unexpected\n";
  }
  return text;
}

}  // namespace sinew::p2p
