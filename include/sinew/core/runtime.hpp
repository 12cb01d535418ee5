// One rank's runtime: its place in the job, its fabric endpoint, and progress.
// Not a global: a process may hold several (tests run whole jobs in one process).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "sinew/boot/session.hpp"
#include "sinew/core/completion.hpp"
#include "sinew/core/lock.hpp"
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
  /// More ranks on this node than processors for them; the same answer on all of them. Hot.
  [[nodiscard]] bool crowded() const noexcept { return crowded_; }
  [[nodiscard]] boot::session& session() noexcept { return *session_; }
  [[nodiscard]] fabric::endpoint& endpoint() noexcept { return *endpoint_; }

  /// One round of progress, if nobody else is at it. Returns what happened. Any thread. Hot.
  int poll();
  /// Returns when `c` is done. Suspends the caller (a thread parks, a fiber will yield). Hot.
  void wait(completion& c);
  /// Waits until `ready(context)` holds, looked at after each round of progress. Warm.
  void wait_until(bool (*ready)(void* context), void* context);
  /// Work that must be tried again (p2p's backlog): called after each round of progress while
  /// want_chore(true) is in force, by whoever polls. Returns how much was done.
  void set_chore(int (*chore)(void* context), void* context) noexcept;
  void want_chore(bool wanted) noexcept { chore_wanted_.store(wanted, std::memory_order_relaxed); }

  /// What to print when SINEW_CORE_HANG_TIMEOUT expires in a wait (once per wait). Cold.
  void set_diagnosis(void (*print)(void* context), void* context) noexcept;

  /// Which contexts this rank has handed out. Made by coll with its first communicator; opaque
  /// here. The runtime is the one object that all communicators of a rank share.
  std::shared_ptr<void> contexts;

 private:
  class idler;
  struct parked;

  int round();
  template <class Ready>
  void poll_until(Ready ready, idler& idle);
  void hand_over();
  void offer_turn();
  void pass_on(parked& self);
  void park(parked& self, bool timed);

  std::unique_ptr<boot::session> session_;
  std::unique_ptr<fabric::endpoint> endpoint_;
  threading threads_;

  int (*chore_)(void*) = nullptr;
  void* chore_context_ = nullptr;
  /// A hint: a stale value costs a round more or less, nothing else, so relaxed.
  std::atomic<bool> chore_wanted_{false};
  void (*diagnose_)(void*) = nullptr;
  void* diagnose_context_ = nullptr;
  bool crowded_ = false;  ///< more ranks than processors: give the processor away early

  /// Held by the one thread that polls. Taking it is an acquire, leaving it a release, so progress
  /// rounds of different threads are ordered.
  std::atomic<bool> polling_{false};
  lock parked_lock_;
  parked* parked_ = nullptr;  ///< who waits to poll next; guarded by parked_lock_
};

}  // namespace sinew::core
