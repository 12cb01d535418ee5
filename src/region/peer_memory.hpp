// SPDX-License-Identifier: BSD-3-Clause
// Private memory of other processes, as far as the kernel copies it for us: the edge to
// fabric::endpoint::copy_now.
#pragma once

#include <atomic>
#include <span>
#include <stdexcept>
#include <string>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::region {

/// Thrown where the kernel does not copy for us: messages are the way.
struct kernel_refused {};

/// Any thread.
class peer_memory {
 public:
  explicit peer_memory(fabric::endpoint& endpoint) noexcept : endpoint_(endpoint) {}

  /// The kernel has copied whenever it was asked.
  [[nodiscard]] bool works() const noexcept { return works_.load(std::memory_order_relaxed); }
  /// Throws kernel_refused; then nothing was copied. Throws std::runtime_error if that rank's
  /// process has ended.
  void copy(job_rank peer, fabric::direction way, std::span<const fabric::piece> pieces) {
    SINEW_EXPECT(peer >= 0 && !pieces.empty());
    const fabric::copied how =
        works() ? endpoint_.copy_now(peer, way, pieces) : fabric::copied::refused;
    if (how == fabric::copied::gone) {
      throw std::runtime_error("rank " + to_string(peer) + " has died");
    }
    if (how == fabric::copied::refused) {
      works_.store(false, std::memory_order_relaxed);
      throw kernel_refused{};
    }
  }
  /// Reading bytes that nobody asked for is harmless: the kernel reads them, not a thread of this
  /// process, for which it would be a data race.
  [[nodiscard]] bool may_read_gaps() const noexcept { return !endpoint_.in_one_process(); }

 private:
  fabric::endpoint& endpoint_;
  /// Only ever becomes false. Relaxed: nothing is published with it, and a late reader is refused
  /// by the kernel and learns it so.
  std::atomic<bool> works_{true};
};

}  // namespace sinew::region
