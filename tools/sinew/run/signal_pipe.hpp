// SPDX-License-Identifier: BSD-3-Clause
// The launcher's signals, as a descriptor that can be waited for like any other.
#pragma once

#include <csignal>
#include <span>
#include <vector>

#include "sinew/boot/descriptor.hpp"

namespace sinew::tool {

/// Handlers that write to a pipe: signalfd, which does the same, is refused by some containers'
/// profiles. One per process at a time. System calls are restarted after a signal, except waiting.
class signal_pipe {
 public:
  /// Those of `signals` that our parent does not ignore (nohup, a script's background job). Throws.
  explicit signal_pipe(std::span<const int> signals);
  signal_pipe(const signal_pipe&) = delete;
  signal_pipe& operator=(const signal_pipe&) = delete;
  /// From here on they are blocked: the launcher has its exit code.
  ~signal_pipe();

  /// Readable while signals have come that take() has not given.
  [[nodiscard]] int descriptor() const noexcept { return input_.get(); }
  /// Which have come, each once, however often.
  [[nodiscard]] std::vector<int> take();
  /// The mask that the launcher was started with; that of the ranks.
  [[nodiscard]] const sigset_t& mask_before() const noexcept { return before_; }

 private:
  boot::descriptor input_;
  boot::descriptor output_;
  sigset_t set_{};
  sigset_t before_{};
};

/// All signals blocked as long as this lives.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace sinew::tool
