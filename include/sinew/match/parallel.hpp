// SPDX-License-Identifier: BSD-3-Clause
// One communicator's matching for several threads. The entries are divided over a few parts by
// their envelopes; each part is an engine under a lock of its own, so calls with different
// envelopes seldom wait for each other. A wildcard may concern any part: the first call with one
// gathers everything in part 0, and everybody works there until wildcards have been out of use for
// as many calls as there are entries to move. So both moves together cost a few steps per call,
// and a communicator with wildcards behaves as one engine under one lock does.
//
// It begins gathered, and divides only after threads have waited for its lock: a communicator that
// one thread at a time uses has one engine and pays for one lock that nobody else wants.
//
// Order. Receives in different parts compete for no message, for none of them has a wildcard while
// they are divided. Messages are numbered as they are stored (under their part's lock, so those of
// one source as they arrived), and gathering puts them in that order.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/match/engine.hpp"

namespace sinew::match {

/// `Lock` has acquire(), try_acquire() and release(). Any thread, in any call but alone().
template <class Lock>
class parallel_engine {
  struct part;  // one of those that entries are divided over

 public:
  static constexpr std::size_t parts = 16;
  /// Only `hash` is divided: the other engines are there to be compared with.
  explicit parallel_engine(std::string_view name) { use(make_engine(name)); }
  parallel_engine(const parallel_engine&) = delete;
  parallel_engine& operator=(const parallel_engine&) = delete;

  /// The engine, in a job without threads: then only this is called, and nothing is ever divided.
  [[nodiscard]] engine& alone() const noexcept { return *first_.by; }

  /// The right to work with one part, until it goes. Calls mean what they mean in `engine`, for
  /// entries with envelopes that belong here: the one that enter() was told, or any if gathered().
  class access {
   public:
    access(const access&) = delete;
    access& operator=(const access&) = delete;
    ~access() { unlock(); }
    /// Early. No call may follow.
    void unlock() noexcept {
      if (part_ != nullptr) {
        std::exchange(part_, nullptr)->lock.release();
      }
    }

    [[nodiscard]] message* post(receive& r) {
      SINEW_EXPECT(part_ != nullptr && whole_->belongs(*part_, r.wanted));
      message* const m = part_->by->post(r);
      if (m == nullptr && has_wildcard(r.wanted)) {
        ++whole_->wildcards_posted_;
      }
      return m;
    }
    [[nodiscard]] receive* arrive(message& m) {
      SINEW_EXPECT(part_ != nullptr && whole_->belongs(*part_, m.sent));
      receive* const r = part_->by->arrive(m);
      if (r == nullptr) {
        // Relaxed: calls for one source are ordered by their caller, and gathering, which compares
        // the numbers, by the locks.
        m.arrival = whole_->arrivals_.fetch_add(1, std::memory_order_relaxed);
      } else {
        forget(*r);
      }
      return r;
    }
    [[nodiscard]] message* peek(const envelope& wanted) {
      SINEW_EXPECT(part_ != nullptr && whole_->belongs(*part_, wanted));
      return part_->by->peek(wanted);
    }
    [[nodiscard]] message* take(const envelope& wanted) {
      SINEW_EXPECT(part_ != nullptr && whole_->belongs(*part_, wanted));
      return part_->by->take(wanted);
    }
    bool cancel(receive& r) {
      SINEW_EXPECT(part_ != nullptr && whole_->belongs(*part_, r.wanted));
      const bool removed = part_->by->cancel(r);
      if (removed) {
        forget(r);
      }
      return removed;
    }
    void withdraw(message& m) noexcept { part_->by->withdraw(m); }
    [[nodiscard]] engine& all() const noexcept { return *part_->by; }

   private:
    friend parallel_engine;
    access(parallel_engine& whole, part& held) noexcept : whole_(&whole), part_(&held) {}
    void forget(const receive& r) noexcept {
      if (has_wildcard(r.wanted)) {
        SINEW_ASSERT(whole_->wildcards_posted_ != 0);
        --whole_->wildcards_posted_;
      }
    }
    parallel_engine* whole_;
    part* part_;
  };

  /// For entries and searches with this envelope. Throws std::bad_alloc, with nothing changed, if
  /// it has a wildcard and what is stored cannot be gathered. Hot.
  [[nodiscard]] access enter(const envelope& e) {
    if (has_wildcard(e)) [[unlikely]] {
      return gathered();
    }
    // Acquire: the parts were made before they were used. Changed only by who holds all locks; so
    // it stands still under any of them.
    const bool divided = divided_.load(std::memory_order_acquire);
    part& mine = divided ? at(place(e)) : first_;
    if (!mine.lock.try_acquire()) [[unlikely]] {
      return enter_late(e);
    }
    if (divided_.load(std::memory_order_relaxed) != divided) [[unlikely]] {
      mine.lock.release();
      return enter_late(e);
    }
    ++mine.calls;
    return access(*this, mine);
  }

  /// Everything is in one engine now, and stays there for a while. Throws like enter(). Warm.
  [[nodiscard]] access gathered() {
    first_.lock.acquire();
    try {
      gather();
    } catch (...) {
      first_.lock.release();
      throw;
    }
    first_.calls = 0;
    waits_ = 0;
    return access(*this, first_);
  }

  /// Divides now, if it may and there is memory. For tests: it happens by itself. Cold.
  void divide() noexcept {
    first_.lock.acquire();
    if (!divided_.load(std::memory_order_relaxed) && wildcards_posted_ == 0) {
      spread();
    }
    first_.lock.release();
  }
  [[nodiscard]] bool divided() const noexcept { return divided_.load(std::memory_order_relaxed); }

  /// Another engine takes over what is stored. Throws std::bad_alloc, with nothing changed. Cold.
  void replace_by(std::unique_ptr<engine> fresh) {
    const access held = gathered();
    move_entries(*first_.by, *fresh);
    past_ += first_.by->counts();
    use(std::move(fresh));
  }

  /// What matching has cost, other engines before it included. While divided, the most that was
  /// stored is what the parts had at most, each at its own time. Warm.
  [[nodiscard]] search_counts counts() const {
    search_counts sum = past_;
    std::uint64_t posted = 0;
    std::uint64_t unexpected = 0;
    each_part([&](const engine& e) {
      const bool gathers = &e == first_.by.get();
      posted += gathers ? e.posted() : e.counts().most_posted;
      unexpected += gathers ? e.unexpected() : e.counts().most_unexpected;
      sum += e.counts();
    });
    sum.most_posted = std::max(sum.most_posted, posted);
    sum.most_unexpected = std::max(sum.most_unexpected, unexpected);
    return sum;
  }
  [[nodiscard]] std::size_t posted() const {
    std::size_t sum = 0;
    each_part([&](const engine& e) { sum += e.posted(); });
    return sum;
  }
  [[nodiscard]] std::size_t unexpected() const {
    std::size_t sum = 0;
    each_part([&](const engine& e) { sum += e.unexpected(); });
    return sum;
  }
  /// Whether a receive with a wildcard is posted. Warm.
  [[nodiscard]] bool has_wildcards() const noexcept {
    first_.lock.acquire();
    const bool any = wildcards_posted_ != 0;
    first_.lock.release();
    return any;
  }
  [[nodiscard]] std::string_view name() const {
    std::string_view name;
    first_.lock.acquire();
    name = first_.by->name();
    first_.lock.release();
    return name;
  }

 private:
  struct alignas(64) part {
    std::unique_ptr<engine> by;
    std::uint64_t calls = 0;  ///< since the last wildcard; of interest in part 0
    mutable Lock lock;
  };
  /// Waits for the lock of part 0, since the last wildcard, that make it worth while to divide.
  static constexpr std::uint64_t many_waits = 16;
  static constexpr std::uint64_t many_calls = 1024;

  [[nodiscard]] static std::size_t place(const envelope& e) noexcept {
    const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(e.source.value())} << 32 |
                              static_cast<std::uint32_t>(e.tag.value());
    return key * 0x9E3779B97F4A7C15u >> 60;  // Fibonacci: the golden ratio's bits
  }
  static_assert(parts == 16, "place() gives four bits");
  /// Entries with this envelope are in this part, which is held.
  [[nodiscard]] bool belongs(const part& held, const envelope& e) const noexcept {
    return divided() ? !has_wildcard(e) && &held == &at(place(e)) : &held == &first_;
  }
  [[nodiscard]] part& at(std::size_t i) const noexcept { return i == 0 ? first_ : others_[i - 1]; }

  void use(std::unique_ptr<engine> by) noexcept {
    SINEW_EXPECT(by != nullptr);
    first_.by = std::move(by);
    may_divide_ = first_.by->name() == "hash";
  }

  /// Somebody else is at work in the part, or where things are is changing.
  [[nodiscard, gnu::noinline]] access enter_late(const envelope& e) noexcept {
    for (;;) {
      const bool divided = divided_.load(std::memory_order_acquire);
      part& mine = divided ? at(place(e)) : first_;
      mine.lock.acquire();
      if (divided_.load(std::memory_order_relaxed) == divided) {
        if (divided || ++waits_ < many_waits || !worth_dividing() || !spread()) {
          return access(*this, mine);
        }
      }
      mine.lock.release();
    }
  }
  [[nodiscard]] bool worth_dividing() const noexcept {
    const std::size_t to_move = first_.by->posted() + first_.by->unexpected();
    return wildcards_posted_ == 0 && first_.calls >= many_calls && first_.calls >= to_move;
  }

  void acquire_others() const noexcept {
    for (std::size_t i = 1; i < parts; ++i) {
      at(i).lock.acquire();
    }
  }
  void release_others() const noexcept {
    for (std::size_t i = 1; i < parts; ++i) {
      at(i).lock.release();
    }
  }
  [[nodiscard]] std::array<engine*, parts> engines() const noexcept {
    std::array<engine*, parts> all{};
    for (std::size_t i = 0; i < parts; ++i) {
      all[i] = at(i).by.get();
    }
    return all;
  }

  // Both under the lock of part 0; others are acquired in the order of their numbers.

  void gather() {
    if (!divided_.load(std::memory_order_relaxed)) {
      return;
    }
    acquire_others();
    const auto from = engines();
    engine* const to[] = {from[0]};
    try {
      move_entries(from, to, [](const envelope&) noexcept -> std::size_t { return 0; });
    } catch (...) {
      release_others();
      throw;
    }
    divided_.store(false, std::memory_order_relaxed);
    SINEW_ENSURE(std::all_of(from.begin() + 1, from.end(), [](const engine* e) {
      return e->posted() == 0 && e->unexpected() == 0;
    }));
    release_others();
  }

  bool spread() noexcept try {
    SINEW_EXPECT(wildcards_posted_ == 0 && !divided());
    if (!may_divide_) {
      waits_ = 0;
      return false;
    }
    if (others_ == nullptr) {
      auto fresh = std::make_unique<part[]>(parts - 1);
      for (std::size_t i = 0; i + 1 < parts; ++i) {
        fresh[i].by = make_engine("hash");
      }
      others_ = std::move(fresh);
    }
    acquire_others();
    const auto to = engines();
    engine* const from[] = {to[0]};
    try {
      move_entries(from, to, place);
    } catch (...) {
      release_others();
      throw;
    }
    divided_.store(true, std::memory_order_release);
    release_others();
    return true;
  } catch (const std::bad_alloc&) {
    waits_ = 0;  // not again soon
    return false;
  }

  template <class Fn>
  void each_part(Fn&& fn) const {
    first_.lock.acquire();
    const bool more = others_ != nullptr;
    if (more) {
      acquire_others();
    }
    for (std::size_t i = 0; i < (more ? parts : 1); ++i) {
      fn(*at(i).by);
    }
    if (more) {
      release_others();
    }
    first_.lock.release();
  }

  mutable part first_;
  /// Made at the first division, then never gone or moved: a thread may be about to lock one.
  std::unique_ptr<part[]> others_;
  /// See enter().
  std::atomic<bool> divided_{false};
  std::atomic<std::uint64_t> arrivals_{0};
  // Under the lock of part 0, but for wildcards_posted_: if that is not 0, all is gathered, so who
  // removes or adds one holds that lock too.
  std::size_t wildcards_posted_ = 0;
  std::uint64_t waits_ = 0;  ///< for its lock, since the last wildcard
  bool may_divide_ = false;
  search_counts past_;
};

}  // namespace sinew::match
