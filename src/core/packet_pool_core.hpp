// SPDX-License-Identifier: BSD-3-Clause
// The algorithm of the packet pool; Steps is how it meets other threads (base/steps.hpp).
//
// A packet is in one place: in use, in the depot, or in one cache. Only a cache's owner adds to it,
// and takes from it without any atomic read-modify-write, under `busy`. A thief, which comes only
// when the depot is empty, sets `seized`, and then looks at `busy`; the owner sets `busy`, and
// then looks at `seized`: whoever comes second sees the other (Dekker). The order of the owner's
// store and load is not fenced by the owner but by the thief's membarrier, or by both where the
// kernel has none. An owner who finds its cache seized goes to the depot instead; a thief who
// finds an owner inside waits a bounded time and goes on. So nobody waits for a thread that lost
// its processor, except for the depot's lock, which is held for some copies of pointers.
//
// Nothing is lost: a packet leaves a cache only into the array of whoever holds `busy` or
// `seized`, and from there into its hands, into a cache it has entered, or into the depot, which
// has room for all there are.
//
// Nothing is hidden for ever: a thief visits every cache, and a cache whose thread ended is empty.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/membarrier.hpp"

namespace sinew::core {

inline constexpr std::size_t most_kept = 64;
inline constexpr std::size_t most_moved = most_kept / 2;

/// What one worker or thread keeps. Reused by later threads, freed with the pool only. All that its
/// owner needs stands at the beginning, with the first packets: an owner who was away for a while
/// finds it in one line.
struct alignas(128) packet_cache {
  /// The owner is inside. Leaving is a release, and so is giving it back; entering and seizing
  /// acquire: items and count are ordered by these two.
  std::atomic<bool> busy{false};
  std::atomic<bool> seized{false};
  bool asymmetric = false;  ///< constant: membarrier may be used
  /// Changed by whoever is inside; others read it as a hint whether a visit is worth while.
  std::atomic<std::uint32_t> count{0};
  /// What it may hold. Changed under the pool's caches_lock_; a stale value costs its owner a visit
  /// to the depot.
  std::atomic<std::uint32_t> share{1};
  std::array<void*, most_kept> items{};
  std::uint32_t next_victim = 0;  ///< the owner's
  packet_cache* next = nullptr;   ///< constant once in the pool's list
  packet_cache* idle_next = nullptr;
};

template <class Steps>
class packet_pool_core {
 public:
  /// The depot begins with `packets`. `asymmetric`: membarrier may be used.
  packet_pool_core(std::vector<void*> packets, std::size_t keep, bool asymmetric)
      : total_(packets.size()),
        keep_(std::min(keep, most_kept)),
        asymmetric_(asymmetric),
        depot_(std::move(packets)),
        depot_count_(static_cast<std::uint32_t>(total_)) {}
  ~packet_pool_core() {
    for (packet_cache* c = all_.load(); c != nullptr;) {
      delete std::exchange(c, c->next);
    }
  }
  packet_pool_core(const packet_pool_core&) = delete;
  packet_pool_core& operator=(const packet_pool_core&) = delete;

  /// A cache for a new owner; null if memory is exhausted. Any thread. Warm.
  [[nodiscard]] packet_cache* open() noexcept {
    lock(caches_lock_);
    packet_cache* c = idle_;
    if (c != nullptr) {
      idle_ = c->idle_next;
    } else if ((c = new (std::nothrow) packet_cache) != nullptr) {
      c->asymmetric = asymmetric_;
      c->next = all_.load(std::memory_order_relaxed);
      all_.store(c, std::memory_order_release);  // a thief that sees it sees its fields
    }
    if (c != nullptr) {
      set_owners(owners_ + 1);
    }
    unlock(caches_lock_);
    return c;
  }

  /// Its owner ends: what it kept goes to the depot. Warm.
  void close(packet_cache& c) noexcept {
    for (unsigned attempt = 0; !enter(c); ++attempt) {
      Steps::wait(attempt);
    }
    const std::uint32_t n = c.count.load(std::memory_order_relaxed);
    to_depot(c.items.data(), n);
    c.count.store(0, std::memory_order_relaxed);
    leave(c);
    lock(caches_lock_);
    SINEW_ASSERT(owners_ > 0);
    c.idle_next = idle_;
    idle_ = &c;
    set_owners(owners_ - 1);
    unlock(caches_lock_);
  }

  /// Null if none was found. `own` may be null: for callers that have no cache.
  [[nodiscard]] void* get(packet_cache* own) noexcept {
    if (own != nullptr && enter(*own)) [[likely]] {
      const std::uint32_t n = own->count.load(std::memory_order_relaxed);
      Steps::step();
      SINEW_ASSERT(n <= most_kept);
      if (n > 0) [[likely]] {
        void* const packet = own->items[n - 1];
        own->count.store(n - 1, std::memory_order_relaxed);
        leave(*own);
        return packet;
      }
      leave(*own);
    }
    return fetch(own);
  }

  void put(packet_cache* own, void* packet) noexcept {
    if (own != nullptr && enter(*own)) [[likely]] {
      const std::uint32_t n = own->count.load(std::memory_order_relaxed);
      Steps::step();
      if (n < own->share.load(std::memory_order_relaxed)) [[likely]] {
        own->items[n] = packet;
        own->count.store(n + 1, std::memory_order_relaxed);
        leave(*own);
        return;
      }
      return overflow(*own, packet);
    }
    to_depot(&packet, 1);
  }

  [[nodiscard]] std::size_t unused() noexcept {
    lock(depot_lock_);
    std::size_t n = depot_count_.load(std::memory_order_relaxed);
    unlock(depot_lock_);
    for (packet_cache* c = first(); c != nullptr; c = c->next) {
      n += c->count.load(std::memory_order_relaxed);
    }
    return n;
  }

 private:
  using handful = std::array<void*, most_moved>;

  // ---- a cache's two doors --------------------------------------------------------------------

  [[nodiscard]] bool enter(packet_cache& c) noexcept {
    Steps::step();
    if (c.asymmetric) [[likely]] {
      c.busy.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // the rest is the thief's membarrier
    } else {
      c.busy.exchange(true, std::memory_order_seq_cst);
    }
    Steps::step();
    if (!c.seized.load(std::memory_order_seq_cst)) [[likely]] {
      return true;
    }
    leave(c);
    return false;
  }
  static void leave(packet_cache& c) noexcept {
    Steps::step();
    c.busy.store(false, std::memory_order_release);
  }

  [[nodiscard]] bool seize(packet_cache& c) noexcept {
    Steps::step();
    if (c.seized.exchange(true, std::memory_order_seq_cst)) {
      return false;
    }
    if (asymmetric_) {
      base::membarrier(base::within::process);
    }
    constexpr unsigned patience = 60;
    for (unsigned attempt = 0; attempt < patience; ++attempt) {
      Steps::step();
      if (!c.busy.load(std::memory_order_seq_cst)) {
        return true;
      }
      Steps::wait(attempt);
    }
    give_back(c);
    return false;
  }
  static void give_back(packet_cache& c) noexcept {
    Steps::step();
    c.seized.store(false, std::memory_order_release);
  }

  // ---- when the own cache cannot serve --------------------------------------------------------

  [[gnu::noinline]] void* fetch(packet_cache* own) noexcept {
    handful found;
    const std::size_t wanted =
        own == nullptr ? 1
                       : std::max<std::size_t>(1, own->share.load(std::memory_order_relaxed) / 2);
    std::size_t n = from_depot(found, wanted);
    if (n == 0) {
      n = steal(own, found, wanted);
    }
    if (n == 0) {
      return nullptr;
    }
    std::size_t left = n - 1;  // the last one is the answer
    if (left > 0 && enter(*own)) {
      std::uint32_t count = own->count.load(std::memory_order_relaxed);
      while (left > 0 && count < most_kept) {
        own->items[count++] = found[--left];
      }
      own->count.store(count, std::memory_order_relaxed);
      leave(*own);
    }
    if (left > 0) {
      to_depot(found.data(), left);
    }
    return found[n - 1];
  }

  /// Entered, and full: the older half goes to the depot.
  [[gnu::noinline]] void overflow(packet_cache& own, void* packet) noexcept {
    handful moved;
    std::uint32_t n = own.count.load(std::memory_order_relaxed);
    const std::size_t going = take_oldest(own, moved, (n + 1) / 2);
    SINEW_ASSERT(going > 0);  // else there is no place for `packet`
    n -= static_cast<std::uint32_t>(going);
    own.items[n] = packet;
    own.count.store(n + 1, std::memory_order_relaxed);
    leave(own);
    to_depot(moved.data(), going);
  }

  /// From a cache that the caller is alone in.
  std::size_t take_oldest(packet_cache& c, handful& into, std::size_t wanted) noexcept {
    const std::uint32_t n = c.count.load(std::memory_order_relaxed);
    Steps::step();
    const std::size_t going = std::min({std::size_t{n}, wanted, into.size()});
    std::copy_n(c.items.begin(), going, into.begin());
    std::copy(c.items.begin() + going, c.items.begin() + n, c.items.begin());
    c.count.store(n - static_cast<std::uint32_t>(going), std::memory_order_relaxed);
    return going;
  }

  /// Visits each other cache once at most, beginning after the last one that was robbed.
  [[gnu::noinline]] std::size_t steal(packet_cache* own, handful& into,
                                      std::size_t wanted) noexcept {
    const std::uint32_t skip = own == nullptr ? 0 : own->next_victim;
    std::uint32_t index = 0;
    // Two passes over the list make one round that begins at `skip`.
    for (int pass = 0; pass < 2; ++pass) {
      index = 0;
      for (packet_cache* c = first(); c != nullptr; c = c->next, ++index) {
        if (c == own || (index < skip) != (pass == 1)) {
          continue;
        }
        Steps::step();
        const std::uint32_t there = c->count.load(std::memory_order_relaxed);
        if (there == 0 || !seize(*c)) {
          continue;
        }
        const std::size_t half = (c->count.load(std::memory_order_relaxed) + 1) / 2;
        const std::size_t got = take_oldest(*c, into, std::min(half, wanted));
        give_back(*c);
        if (got == 0) {
          continue;
        }
        if (own != nullptr) {
          own->next_victim = index;
        }
        return got;
      }
    }
    return 0;
  }

  // ---- the depot ------------------------------------------------------------------------------

  [[nodiscard]] std::size_t from_depot(handful& into, std::size_t wanted) noexcept {
    Steps::step();
    if (depot_count_.load(std::memory_order_relaxed) == 0) {
      return 0;  // a hint: saves the lock
    }
    lock(depot_lock_);
    const std::uint32_t there = depot_count_.load(std::memory_order_relaxed);
    const std::size_t n = std::min({wanted, into.size(), std::size_t{there}});
    std::copy_n(depot_.begin() + static_cast<std::ptrdiff_t>(there - n), n, into.begin());
    depot_count_.store(there - static_cast<std::uint32_t>(n), std::memory_order_relaxed);
    unlock(depot_lock_);
    return n;
  }

  void to_depot(void* const* packets, std::size_t n) noexcept {
    if (n == 0) {
      return;
    }
    lock(depot_lock_);
    const std::uint32_t there = depot_count_.load(std::memory_order_relaxed);
    SINEW_ASSERT(there + n <= total_);  // else a packet was put twice
    std::copy_n(packets, n, depot_.begin() + there);
    depot_count_.store(there + static_cast<std::uint32_t>(n), std::memory_order_relaxed);
    unlock(depot_lock_);
  }

  static void lock(std::atomic<bool>& held) noexcept {
    for (unsigned attempt = 0; Steps::step(), held.exchange(true, std::memory_order_acquire);
         ++attempt) {
      Steps::wait(attempt);
    }
  }
  static void unlock(std::atomic<bool>& held) noexcept {
    Steps::step();
    held.store(false, std::memory_order_release);
  }

  [[nodiscard]] packet_cache* first() const noexcept {
    return all_.load(std::memory_order_acquire);
  }

  /// Under caches_lock_. A fair share for each, so that the caches together can hold all packets
  /// and nobody has to rob whoever needs no more than that.
  void set_owners(std::uint32_t owners) noexcept {
    owners_ = owners;
    const std::size_t fair = std::max<std::size_t>(1, total_ / std::max(owners, 1u));
    for (packet_cache* c = first(); c != nullptr; c = c->next) {
      c->share.store(static_cast<std::uint32_t>(std::min(keep_, fair)), std::memory_order_relaxed);
    }
  }

  std::size_t total_;
  std::size_t keep_;
  bool asymmetric_;
  std::atomic<packet_cache*> all_{nullptr};  ///< grows only

  alignas(64) std::atomic<bool> depot_lock_{false};  ///< guards the depot
  std::vector<void*> depot_;
  std::atomic<std::uint32_t> depot_count_;  ///< changed under depot_lock_; read outside as a hint

  alignas(64) std::atomic<bool> caches_lock_{false};  ///< guards idle_, owners_, changes of all_
  packet_cache* idle_ = nullptr;
  std::uint32_t owners_ = 0;
};

}  // namespace sinew::core
