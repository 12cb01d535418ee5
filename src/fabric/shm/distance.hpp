// How far a peer's processor is, told by what writing into packets for it costs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

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

  /// `bytes` were copied into a packet in `taken` ticks. Hot.
  change note(std::uint64_t taken, std::size_t bytes) noexcept {
    if (bytes < least_sample) {
      return change::none;
    }
    // Bounded, so that one interruption by the system says little.
    const auto sample = static_cast<std::int64_t>(std::min(taken * unit / bytes, 3 * far_from_));
    std::int64_t mean = mean_.load(std::memory_order_relaxed);
    mean += (sample - mean) / 8;
    mean_.store(mean, std::memory_order_relaxed);
    const bool was = far();
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
  /// Ticks for `unit` bytes. Relaxed, as is far_: hints that order nothing.
  std::atomic<std::int64_t> mean_{0};
  std::atomic<bool> far_{false};
};

}  // namespace sinew::fabric::shm
