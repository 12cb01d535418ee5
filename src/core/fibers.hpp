// SPDX-License-Identifier: BSD-3-Clause
// What the workers of fibers poll: every runtime of this process.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/runtime_impl.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::core {

/// A fiber that waits for a completion.
class waiting_fiber final : public waiter, public fiber::sleeper {
 public:
  waiting_fiber() noexcept : sleeper(state) {
    fire = [](waiter& w) noexcept { static_cast<waiting_fiber&>(w).wake(); };
  }
  static constexpr const char* state = "waits for communication";
};

/// One per process, while there is a runtime. Called by one worker at a time. With several runtimes
/// (tests run whole jobs in a process) it naps instead of sleeping on a doorbell.
class runtime::impl::fiber_poller final : public fiber::poller {
 public:
  static void add(impl& rt);
  static void remove(impl& rt);

  int poll() noexcept override;
  void sleep(std::uint64_t timeout_ns) noexcept override;
  void wake() noexcept override;
  [[nodiscard]] bool sleeps_at_once() noexcept override;

 private:
  static fiber_poller& of_process();
  void nap(std::uint64_t timeout_ns) noexcept;
  void sleep_in(impl& rt, std::uint64_t timeout_ns) noexcept;
  void watch_for_hang();
  void report(const char* how) const noexcept;

  /// Changed only while no scheduler knows this poller, hence no lock.
  std::vector<impl*> all_;
  bool at_once_ = false;  ///< what sleeps_at_once() has answered last
  /// 1 after wake(), 0 when sleep() has seen it. The sleeper looks before it sleeps; exchanged with
  /// acquire and release, though what wakes it (a fiber made ready) is ordered elsewhere.
  std::atomic<std::uint32_t> woken_{0};

  // Of whoever polls; workers hand the poller over with acquire and release.
  std::uint64_t happened_ = 0;       ///< in all rounds
  std::uint64_t happened_then_ = 0;  ///< when quiet_since_ns_ was set
  std::uint64_t quiet_since_ns_ = 0;
  bool time_reported_ = false;
  bool reported_ = false;
};

}  // namespace sinew::core
