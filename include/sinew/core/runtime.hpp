// One rank's runtime: its place in the job, its fabric endpoint, and progress.
// Not a global: a process may hold several (tests run whole jobs in one process).
#pragma once

#include <cstdint>
#include <memory>

#include "sinew/boot/session.hpp"
#include "sinew/core/completion.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::core {

/// How the program's threads use the runtime (MPI's thread levels, in effect).
enum class threading : std::uint8_t { one, many };

/// Progress (DESIGN 2.2): whoever waits, polls. Of many waiting threads one polls and the others
/// are parked; the poller hands over when its own wait ends. After a bounded spin the poller
/// yields, then sleeps on the fabric's doorbell.
class runtime {
 public:
  /// Opens shared memory over `session` (or in-process fabric if the job has one rank).
  static std::unique_ptr<runtime> open(std::unique_ptr<boot::session> session, threading threads);
  /// For tests: a runtime over a given endpoint.
  runtime(std::unique_ptr<boot::session> session, std::unique_ptr<fabric::endpoint> endpoint,
          threading threads);
  ~runtime();

  [[nodiscard]] int rank() const noexcept { return endpoint_->rank(); }
  [[nodiscard]] int size() const noexcept { return endpoint_->size(); }
  [[nodiscard]] bool threaded() const noexcept { return threads_ == threading::many; }
  [[nodiscard]] boot::session& session() noexcept { return *session_; }
  [[nodiscard]] fabric::endpoint& endpoint() noexcept { return *endpoint_; }

  /// One round of progress, if nobody else is at it. Returns what happened. Any thread. Hot.
  int poll();
  /// Returns when `c` is done. Suspends the caller (a thread parks, a fiber will yield). Hot.
  void wait(completion& c);
  /// Waits until `ready(context)` holds, looked at after each round of progress. Warm.
  void wait_until(bool (*ready)(void* context), void* context);
  /// Called between rounds by whoever waits, for work that must be tried again (p2p's backlog).
  void set_chore(int (*chore)(void* context), void* context) noexcept;

  /// What to print when SINEW_CORE_HANG_TIMEOUT expires in a wait.
  void set_diagnosis(void (*print)(void* context), void* context) noexcept;

 private:
  struct state;
  std::unique_ptr<boot::session> session_;
  std::unique_ptr<fabric::endpoint> endpoint_;
  threading threads_;
  std::unique_ptr<state> state_;
};

}  // namespace sinew::core
