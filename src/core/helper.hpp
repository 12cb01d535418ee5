// SPDX-License-Identifier: BSD-3-Clause
// The rank's helper thread: it makes progress while the program computes. When it leads, and how it
// gives way, is waiting_core's; here are the thread, its naps and its end.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "core/runtime_impl.hpp"
#include "sinew/boot/session.hpp"

namespace sinew::core {

/// SINEW_CORE_PROGRESS. Throws sinew::error for other words.
[[nodiscard]] progress chosen_progress();
/// Whether a rank at that place is served by a helper, for `what`.
[[nodiscard]] bool may_have_helper(const boot::place& at, progress how, service what) noexcept;

/// What waiting_core asks of whoever wants the helper to give way.
struct bell_of {
  fabric::endpoint& endpoint;
  void ring() { endpoint.wake(); }
};

class runtime::impl::helper {
 public:
  /// The thread is there, and barred (waiting_core). Throws where no thread can be had.
  explicit helper(impl& rt);
  /// Ends it; in the child of a fork, forgets it.
  ~helper();
  helper(const helper&) = delete;
  helper& operator=(const helper&) = delete;

 private:
  class edge;
  struct listing;  ///< of the helpers of this process, for exit()
  static listing& all();
  static void* run(void* self) noexcept;
  void end() noexcept;

  impl& rt_;
  std::atomic<std::uint32_t> ending_{0};  ///< its naps wait for it; release and acquire
  pid_t owner_;
  pthread_t thread_{};
  bool ended_ = false;  ///< under listing's lock, once the thread is there
};

}  // namespace sinew::core
