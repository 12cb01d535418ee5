// SPDX-License-Identifier: BSD-3-Clause
// What this rank and each other one know of each other's events. Read this first, after graph.hpp.
//
// Pure: no messages, no lock. Two halves:
//   their events  which generations of their slots are known to have triggered, and which are
//                 awaited here, by what alias (a slot of the graph). What is known of a slot is
//                 only ever a true statement about its generations, so the order in which messages
//                 come does not matter, nor does one that comes twice.
//   our events    which ranks have subscribed to one (a word that the graph keeps for us), and the
//                 notices for each rank, gathered so that one message carries many.
//
// What must be sent is handed to the caller's `courier` (courier.hpp; a test's list), anything with
//   settled(int to, event newest, const run& how);  // one slot
//   settled(int to, std::span<const event>);        // triggered, not poisoned, nor earlier ones
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/graph.hpp"
#include "event/number_lists.hpp"
#include "event/runs.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/event/event.hpp"

namespace sinew::event {

class peer_table {
 public:
  peer_table(job_rank rank, int size, number_lists& lists);

  // --- their events ---

  /// What is known of one slot of another rank. Stays where it is.
  class entry {
   public:
    entry() noexcept : awaited_(0), several_(0), mixed_(0) {}

   private:
    friend class peer_table;
    std::uint32_t alias_ = 0;  ///< the slot here that stands for generation awaited_; 0: none
    std::uint32_t awaited_ : event::generation_bits;
    std::uint32_t several_ : 1;  ///< further generations are awaited: see more_aliases_
    std::uint32_t mixed_ : 1;    ///< more is known: see mixed_
    std::uint32_t from_ = 0;     ///< generations from_..to_ have triggered, clean; 0: none known
    std::uint32_t to_ = 0;
  };
  static_assert(sizeof(entry) == 16, "system.hpp promises 16 bytes");

  /// Of the slot of an event of another rank. Throws sinew::error if there is no such rank.
  [[nodiscard]] entry& entry_of(event e) {
    SINEW_EXPECT(e.owner() != rank_);
    peer& p = at(e.owner());
    const std::size_t page = e.index() / entries_per_page;
    if (page >= p.pages.size() || p.pages[page] == nullptr) [[unlikely]] {
      make_page(p, e.owner(), page);
    }
    return p.pages[page][e.index() % entries_per_page];
  }
  /// How `e` ended, or the alias that awaits it; `pending` in slot 0: its owner must be asked.
  [[nodiscard]] graph::place find(const entry& known, event e) const {
    const std::uint32_t g = e.generation();
    if (known.from_ != 0 && known.from_ <= g && g <= known.to_) {
      return {0, state::triggered};
    }
    if (known.alias_ != 0 && known.awaited_ == g) {
      return {known.alias_, state::pending};
    }
    if (known.mixed_ != 0 || known.several_ != 0 || at(e.owner()).lost) [[unlikely]] {
      return find_further(known, e);
    }
    return {0, state::pending};
  }
  /// `alias` stands for it from now on.
  void await(entry& known, event e, std::uint32_t alias) {
    SINEW_EXPECT(alias != 0 && &known == &entry_of(e));
    SINEW_EXPECT(find(known, e).slot == 0 && find(known, e).known == state::pending);
    if (known.alias_ == 0) [[likely]] {
      known.alias_ = alias;
      known.awaited_ = e.generation() & event::last_generation;
    } else {
      more_aliases_.emplace(slot_key(e), more_alias{e.generation(), alias});
      known.several_ = 1;
    }
    SINEW_ENSURE(find(known, e).slot == alias);
  }
  /// Its owner says that generations how.from..how.to of the slot ended so; calls
  /// resolve(alias, poisoned) for each that was awaited.
  template <class Resolve>
  void learn(event newest, const run& how, Resolve resolve) {
    SINEW_EXPECT(how.from >= 1 && how.from <= how.to && how.to == newest.generation());
    entry& known = entry_of(newest);
    add(known, newest, how);
    settle(known, newest, how, resolve);
  }

  // --- our events ---

  /// Enters `rank` into the word of an event of ours. Throws sinew::error if there is no memory.
  void subscribe(std::uint32_t& subscribers, job_rank rank);
  /// Passes a notice of the graph on to its subscribers: at once, or with flush().
  template <class Courier>
  void notify(const graph::notice& n, Courier& courier) {
    SINEW_EXPECT(n.what.owner() == rank_ && n.subscribers != 0);
    if ((n.subscribers & many_ranks) == 0) {
      notify(job_rank{static_cast<int>(n.subscribers - 1)}, n, courier);
      return;
    }
    lists_.consume(n.subscribers & ~many_ranks, [&](std::uint32_t rank) {
      notify(job_rank{static_cast<int>(rank)}, n, courier);
    });
  }
  [[nodiscard]] bool has_gathered() const noexcept { return !gathered_for_.empty(); }
  template <class Courier>
  void flush(Courier& courier) {
    while (!gathered_for_.empty()) {
      const job_rank rank = gathered_for_.back();
      gathered_for_.pop_back();
      batch& b = *batches_[rank.index()];
      SINEW_ASSERT(b.count != 0 && b.count <= batch::most);
      courier.settled(rank, std::span<const event>(b.events, std::exchange(b.count, 0)));
    }
  }

  // --- losses; cold ---

  /// Throws sinew::error if there is no such rank.
  [[nodiscard]] bool is_lost(job_rank rank) const { return at(rank).lost; }
  /// The rank is lost: what is awaited of it is poisoned, by resolve(alias, true). Returns what was
  /// entrusted to it, or nothing the second time.
  template <class Resolve>
  [[nodiscard]] std::vector<event> lose(job_rank rank, Resolve resolve) {
    SINEW_EXPECT(rank != rank_);
    peer& p = at(rank);
    if (std::exchange(p.lost, true)) {
      return {};
    }
    for (std::size_t page = 0; page < p.pages.size(); ++page) {
      for (std::uint32_t n = 0; p.pages[page] != nullptr && n < entries_per_page; ++n) {
        settle(p.pages[page][n], event(rank, slot_of(page, n), 0), everything, resolve);
      }
    }
    return std::exchange(p.entrusted, {});
  }
  /// `e` is an event of ours that `rank`, which is not lost, will trigger. Now and then those that
  /// are not pending(event) any more are dropped. Warm.
  template <class Pending>
  void entrust(event e, job_rank rank, Pending pending) {
    SINEW_EXPECT(e.owner() == rank_);
    peer& p = at(rank);
    SINEW_EXPECT(!p.lost);
    p.entrusted.push_back(e);
    if (p.entrusted.size() >= p.most_entrusted) {
      std::erase_if(p.entrusted, [&](event old) { return !pending(old); });
      p.most_entrusted = std::max(least_entrusted, 2 * p.entrusted.size());
    }
  }

  // --- reports; cold ---

  /// Calls visit(event) for each event of another rank that is awaited here.
  template <class Visit>
  void each_awaited(Visit visit) const {
    for (std::size_t owner = 0; owner < peers_.size(); ++owner) {
      const auto& pages = peers_[owner].pages;
      for (std::size_t page = 0; page < pages.size(); ++page) {
        for (std::uint32_t n = 0; pages[page] != nullptr && n < entries_per_page; ++n) {
          const entry& known = pages[page][n];
          if (known.alias_ != 0) {
            visit(event(job_rank{static_cast<int>(owner)}, slot_of(page, n), known.awaited_));
          }
        }
      }
    }
    for (const auto& [slot, more] : more_aliases_) {
      const event any = event::from_bits(slot);
      visit(event(any.owner(), any.index(), more.generation));
    }
  }

 private:
  static constexpr std::uint32_t many_ranks = 1u << 31;  ///< of a word of subscribers: it is a list
  static constexpr std::uint32_t entries_per_page = 512;
  static constexpr std::size_t least_entrusted = 64;
  static constexpr run everything{1, event::last_generation, true};

  struct peer {
    std::vector<std::unique_ptr<entry[]>> pages;
    std::vector<event> entrusted;  ///< some have triggered meanwhile
    std::size_t most_entrusted = least_entrusted;
    bool lost = false;
  };
  struct more_alias {
    std::uint32_t generation;
    std::uint32_t alias;
  };
  /// Clean triggers that wait for flush().
  struct batch {
    static constexpr std::uint32_t most = 64;
    std::uint32_t count = 0;
    event events[most];
  };

  [[nodiscard]] static std::uint32_t slot_of(std::size_t page, std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>(page) * entries_per_page + n;
  }
  /// Names the slot of `e` whatever the generation.
  [[nodiscard]] static std::uint64_t slot_key(event e) noexcept {
    return event(e.owner(), e.index(), 0).bits();
  }
  [[nodiscard]] const peer& at(job_rank rank) const {
    if (!rank.below(static_cast<int>(peers_.size()))) [[unlikely]] {
      refuse_rank(rank);
    }
    return peers_[rank.index()];
  }
  [[nodiscard]] peer& at(job_rank rank) { return const_cast<peer&>(std::as_const(*this).at(rank)); }
  [[noreturn]] static void refuse_rank(job_rank rank);
  static void make_page(peer& p, job_rank rank, std::size_t page);
  [[nodiscard]] graph::place find_further(const entry& known, event e) const;
  void add(entry& known, event newest, const run& how) {
    if (!how.poisoned) {
      if (known.from_ == 0) {
        known.from_ = how.from;
        known.to_ = how.to;
        return;
      }
      if (how.from <= known.to_ + 1 && known.from_ <= how.to + 1) {
        known.from_ = std::min(known.from_, how.from);
        known.to_ = std::max(known.to_, how.to);
        return;
      }
    }
    mixed_[slot_key(newest)].add(how);
    known.mixed_ = 1;
  }
  /// False: there is no memory to gather, and it must be sent by itself.
  [[nodiscard]] bool gather(job_rank rank, event e) {
    auto& b = batches_[rank.index()];
    if (b == nullptr) [[unlikely]] {
      b.reset(new (std::nothrow) batch);
      if (b == nullptr) {
        return false;
      }
    }
    if (b->count == 0) {
      gathered_for_.push_back(rank);
    }
    SINEW_ASSERT(b->count < batch::most && gathered_for_.size() <= peers_.size());
    b->events[b->count++] = e;
    return true;
  }

  template <class Resolve>
  void settle(entry& known, event any, const run& how, Resolve& resolve) {
    if (known.alias_ != 0 && how.holds(known.awaited_)) {
      resolve(std::exchange(known.alias_, 0), how.poisoned);
    }
    if (known.several_ != 0) [[unlikely]] {
      auto [at, end] = more_aliases_.equal_range(slot_key(any));
      bool left = false;
      while (at != end) {
        if (how.holds(at->second.generation)) {
          resolve(at->second.alias, how.poisoned);
          at = more_aliases_.erase(at);
        } else {
          left = true;
          ++at;
        }
      }
      known.several_ = left ? 1 : 0;
    }
  }
  template <class Courier>
  void notify(job_rank rank, const graph::notice& n, Courier& courier) {
    SINEW_ASSERT(rank != rank_);
    const bool clean = n.how.from == 1 && !n.how.poisoned;
    if (!clean || !gather(rank, n.what)) [[unlikely]] {
      courier.settled(rank, n.what, n.how);
    } else if (batches_[rank.index()]->count == batch::most) {
      flush(courier);
    }
  }

  const job_rank rank_;
  number_lists& lists_;  ///< of ranks
  std::vector<peer> peers_;
  std::unordered_map<std::uint64_t, runs> mixed_;                    ///< by slot_key(); see entry
  std::unordered_multimap<std::uint64_t, more_alias> more_aliases_;  ///< by slot_key()
  std::vector<std::unique_ptr<batch>> batches_;                      ///< by rank
  std::vector<job_rank> gathered_for_;  ///< ranks whose batch is not empty, each once
};

}  // namespace sinew::event
