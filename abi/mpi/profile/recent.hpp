// SPDX-License-Identifier: BSD-3-Clause
// The messages that the engine has told of last, for calls that end: which of them was it? Many
// threads add, and look; nobody waits.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sinew/p2p/engine.hpp"

namespace sinew::mpi::profile {

enum class seen_as : std::uint8_t { sent, arrived, stored, met };

struct seen_message {
  std::int64_t when = 0;  ///< moment()
  std::uint64_t key = 0;  ///< as sample::key; 0: it has none
  const core::communicator* comm = nullptr;
  std::uint64_t bytes = 0;
  int peer = -1;  ///< rank of the job
  int tag = 0;
  seen_as as = seen_as::sent;
};

/// Each entry has a stamp: the number of what it holds, and 0 while it is written. Release, and
/// acquire on both sides of a look, so that what is read belongs to the stamp; the rest is relaxed.
class recent_messages {
 public:
  void add(const seen_message& m) noexcept {
    const std::uint64_t number = added_.fetch_add(1, std::memory_order_relaxed) + 1;
    entry& e = entries_[number % entries];
    e.stamp.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    e.when.store(m.when, std::memory_order_relaxed);
    e.key.store(m.key, std::memory_order_relaxed);
    e.comm.store(m.comm, std::memory_order_relaxed);
    e.bytes.store(m.bytes, std::memory_order_relaxed);
    e.peer.store(m.peer, std::memory_order_relaxed);
    e.tag.store(m.tag, std::memory_order_relaxed);
    e.as.store(m.as, std::memory_order_relaxed);
    e.stamp.store(number, std::memory_order_release);
  }

  /// Calls `take` with each since that moment, the latest first, until it answers false; those that
  /// others overwrite meanwhile are left out.
  template <class Take>
  void each_since(std::int64_t moment, Take take) const noexcept {
    const std::uint64_t latest = added_.load(std::memory_order_relaxed);
    for (std::uint64_t n = latest; n != 0 && n + entries > latest; --n) {
      const entry& e = entries_[n % entries];
      if (e.stamp.load(std::memory_order_acquire) != n) {
        continue;
      }
      const seen_message m{
          e.when.load(std::memory_order_relaxed), e.key.load(std::memory_order_relaxed),
          e.comm.load(std::memory_order_relaxed), e.bytes.load(std::memory_order_relaxed),
          e.peer.load(std::memory_order_relaxed), e.tag.load(std::memory_order_relaxed),
          e.as.load(std::memory_order_relaxed)};
      std::atomic_thread_fence(std::memory_order_acquire);
      if (e.stamp.load(std::memory_order_relaxed) != n) {
        continue;
      }
      if (m.when < moment || !take(m)) {
        return;
      }
    }
  }

 private:
  static constexpr std::size_t entries = 256;
  struct entry {
    std::atomic<std::uint64_t> stamp{0};
    std::atomic<std::int64_t> when{0};
    std::atomic<std::uint64_t> key{0};
    std::atomic<const core::communicator*> comm{nullptr};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<int> peer{0};
    std::atomic<int> tag{0};
    std::atomic<seen_as> as{seen_as::sent};
  };
  std::atomic<std::uint64_t> added_{0};
  std::array<entry, entries> entries_{};
};

}  // namespace sinew::mpi::profile
