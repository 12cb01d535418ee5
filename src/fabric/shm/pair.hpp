// SPDX-License-Identifier: BSD-3-Clause
// This rank's private side of its two rings with one peer, and of its own packets.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/shm/distance.hpp"
#include "fabric/shm/layout.hpp"
#include "fabric/tuning.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/spin.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric::shm {

/// A lock among the threads of one rank; nothing where there is one thread. What it guards is a
/// few dozen instructions without a call into the kernel. A holder can still be descheduled, so
/// nobody waits for it without bound: acquire() gives up and the send answers retry(busy).
template <bool Threads>
class short_lock {
 public:
  [[nodiscard]] bool acquire() noexcept {
    if constexpr (Threads) {
      for (int i = 0; i < patience; ++i) {
        if (!held_.load(std::memory_order_relaxed) &&
            !held_.exchange(true, std::memory_order_acquire)) {
          return true;
        }
        // Wait: bounded.
        cpu_relax();
      }
      return false;
    } else {
      return true;
    }
  }
  void release() noexcept {
    if constexpr (Threads) {
      held_.store(false, std::memory_order_release);
    }
  }

 private:
  static constexpr int patience = 256;
  std::atomic<bool> held_{false};
};

/// Holds a short_lock if it could be had; ask before use.
template <bool Threads>
class short_guard {
 public:
  explicit short_guard(short_lock<Threads>& lock) noexcept : lock_(lock), held_(lock.acquire()) {}
  ~short_guard() {
    if (held_) {
      lock_.release();
    }
  }
  short_guard(const short_guard&) = delete;
  short_guard& operator=(const short_guard&) = delete;
  [[nodiscard]] explicit operator bool() const noexcept { return !Threads || held_; }

 private:
  short_lock<Threads>& lock_;
  bool held_;
};

inline constexpr std::uint32_t nobody = whoever_is_there;

inline constexpr std::uint16_t no_index = 0xffff;
static_assert(most_packets <= no_index, "every packet has an index");

/// The two rings with one peer. The sending half is guarded by `lock`; the receiving half belongs
/// to the thread that makes progress.
template <bool Threads>
struct pair {
  // --- sending ---
  alignas(line_bytes) slot* out = nullptr;  ///< in the peer's part
  std::uint64_t tail = 0;                   ///< number of the next slot
  std::uint64_t limit = 0;  ///< slots below it may be written without a look; `tail` until opened
  std::uint64_t seen_head = 0;  ///< what credit_out said when last read
  credit* credit_out = nullptr;
  std::atomic<std::uint32_t>* bell = nullptr;  ///< the peer's
  std::uint16_t first = no_index;  ///< packets under way, a list in the order of their slots
  std::uint16_t last = no_index;
  std::uint16_t under_way = 0;
  bool fence = false;  ///< see doorbell.hpp; set when opened
  bool opened = false;
  bool starved = false;  ///< a send was refused; sleep() looks whether it would be now
  distance away;         ///< of the peer; outside the lock
  short_lock<Threads> lock;

  // --- receiving ---
  alignas(line_bytes) slot* in = nullptr;  ///< in our part
  /// Number of the next slot to handle. Stored (release) after each handler, loaded (acquire) by
  /// senders, who pass it on as acknowledgement: whoever sees that may reuse what we have read.
  std::atomic<std::uint64_t> head{0};
  std::uint64_t published = 0;  ///< last value stored to credit_in
  /// What the peer's messages have acknowledged. Written by progress (release), read by senders.
  std::atomic<std::uint64_t> acknowledged{0};
  credit* credit_in = nullptr;
  const std::byte* packets = nullptr;  ///< the peer's
  bool fence_in = false;               ///< as `fence`, set when the peer's ring became active
  job_rank rank = -1;
  sinew::local_rank local_rank = -1;

  // --- who the peer is (tenants.cpp) ---
  /// `nobody`: no rank that we know. Stored (release) when both halves are ready for it.
  std::atomic<std::uint32_t> tenant{nobody};
  std::uint32_t heard = nobody;    ///< the tenant whose ring has been found; progress only
  std::atomic<bool> asked{false};  ///< a sender waits for another tenant than this one
  /// It has died. Set by progress (release) before anything of it is ended, read by all (acquire).
  std::atomic<bool> given_up{false};

  /// How many of our slots the peer is known to have consumed.
  [[nodiscard]] std::uint64_t consumed() const noexcept {
    const std::uint64_t known = acknowledged.load(std::memory_order_acquire);
    return known > seen_head ? known : seen_head;
  }
};

/// Which of our packets are free, in the order they became so. Two ends: the hot one holds what
/// was freed last and is still in the caches of both sides (best for a few lines, when a peer
/// answers each message); the cold one rotates through all packets (best from 6 KiB on, where
/// rewriting lines that the reader has just cached is slow). Links of packets under way are kept
/// here as well.
class packet_pool {
 public:
  explicit packet_pool(std::uint32_t count);

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint16_t take_hot() noexcept {
    SINEW_EXPECT(!empty());
    --size_;
    return ring_[(begin_ + size_) & mask_];
  }
  [[nodiscard]] std::uint16_t take_cold() noexcept {
    SINEW_EXPECT(!empty());
    const std::uint16_t index = ring_[begin_ & mask_];
    ++begin_;
    --size_;
    return index;
  }
  void give_back(std::uint16_t index) noexcept {
    SINEW_EXPECT(index < count_ && size_ < count_);
    ring_[(begin_ + size_) & mask_] = index;
    ++size_;
  }

  struct link {
    std::uint64_t slot = 0;  ///< number of the slot that names the packet
    std::uint16_t next = no_index;
  };
  [[nodiscard]] link& link_of(std::uint16_t index) noexcept {
    SINEW_EXPECT(index < count_);
    return links_[index];
  }

 private:
  std::uint32_t count_;
  std::uint32_t mask_;
  std::uint32_t begin_ = 0;
  std::uint32_t size_ = 0;
  std::vector<std::uint16_t> ring_;
  std::vector<link> links_;
};

}  // namespace sinew::fabric::shm
