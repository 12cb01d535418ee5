// SPDX-License-Identifier: BSD-3-Clause
// How far a peer's processor is, told by what writing into packets for it costs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::fabric::shm {

/// Where a hypervisor moves processors about, the cost of streaming 8 KiB changes every few seconds
/// from 0.3 to 2 us, while copying through the kernel costs 0.6 to 0.8 (both sides at work). So the
/// sender keeps a mean of what its full packets have cost, and says when it leaves one of the two
/// ways for the other. Any thread of the sender; a lost update loses one sample.
class distance {
 public:
  enum class change : std::uint8_t { none, went_far, came_near };

  [[nodiscard]] bool far() const noexcept { return far_.load(std::memory_order_relaxed); }

  /// While far, packets are filled past the caches, which tells nothing: whether the one begun at
  /// `now` had better be filled as if the peer were near, to learn whether it is again. Hot.
  [[nodiscard]] bool look_again(std::uint64_t now) noexcept {
    const std::uint64_t since = now - looks_began_.load(std::memory_order_relaxed);
    if (since >= look_every_) {
      looks_began_.store(now, std::memory_order_relaxed);
    }
    return since >= look_every_ || since < look_for_;
  }

  /// `bytes` were copied into a packet in `taken` ticks. Hot.
  change note(std::uint64_t taken, std::size_t bytes) noexcept {
    if (bytes < least_sample) {
      return change::none;
    }
    // Bounded, so that one interruption by the system says little.
    const auto sample = static_cast<std::int64_t>(std::min(taken * unit / bytes, 3 * far_from_));
    std::int64_t mean = mean_.load(std::memory_order_relaxed);
    const bool was = far();
    mean += (sample - mean) / (was ? 2 : 8);  // looks are rare
    mean_.store(mean, std::memory_order_relaxed);
    SINEW_ASSERT(mean >= 0 && near_below_ < far_from_);
    const bool is = mean > static_cast<std::int64_t>(was ? near_below_ : far_from_);
    if (is == was) {
      return change::none;
    }
    far_.store(is, std::memory_order_relaxed);
    return is ? change::went_far : change::came_near;
  }

 private:
  static constexpr std::size_t unit = 8192;
  static constexpr std::size_t least_sample = 4096;

  std::uint64_t far_from_ = ns_to_ticks(1200);
  std::uint64_t near_below_ = ns_to_ticks(800);
  /// A look costs some 2 us if the peer is still far; 2 or 3 in a row say that it has come near.
  std::uint64_t look_every_ = ns_to_ticks(400000);
  std::uint64_t look_for_ = ns_to_ticks(8000);
  /// Ticks for `unit` bytes. Relaxed, as is far_: hints that order nothing.
  std::atomic<std::int64_t> mean_{0};
  std::atomic<bool> far_{false};
  std::atomic<std::uint64_t> looks_began_{0};
};

}  // namespace sinew::fabric::shm
