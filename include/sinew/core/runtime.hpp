// SPDX-License-Identifier: BSD-3-Clause
// One rank's runtime: its place in the job, its fabric endpoint, and progress.
// Not a global: a process may hold several (tests run whole jobs in one process).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "sinew/base/ids.hpp"
#include "sinew/boot/session.hpp"
#include "sinew/core/completion.hpp"
#include "sinew/core/slot.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric {
struct back_end;
}
namespace sinew::boot {
struct awaited;
}

namespace sinew::core {

/// How the program's threads use the runtime (MPI's thread levels, in effect).
enum class threading : std::uint8_t { one, many };

/// Who makes progress (SINEW_CORE_PROGRESS): only threads that wait; also a helper thread of the
/// rank, while its program computes; or that where it is needed (`automatic`: the job is on several
/// nodes, or its programs use events and tasks).
enum class progress : std::uint8_t { waiters, helper, automatic };
/// What a rank is to be served for: messages that its program sends and receives itself, or what
/// others ask of it at any time (events, locks, tasks).
enum class service : std::uint8_t { messages, requests };
/// Where a chore runs: in any round of progress, or only in calls of the program, since it calls
/// functions of the program, which may not expect another thread.
enum class chore_place : std::uint8_t { anywhere, in_calls };

/// Progress (ARCHITECTURE.md, contract 2): whoever waits, polls. One thread at a time leads, that
/// is, polls; the others that are awake watch their own operation; those that have waited for long
/// are parked and woken by their operation, one after the other if all processors are taken. While
/// more threads are awake than there are processors for them, nobody spins for long. The last one
/// awake sleeps on the fabric's doorbell. A fiber that waits is suspended: its worker polls when it
/// has nothing else to do, and now and then. With `threading::one` that takes a scheduler of one
/// worker; with more, fibers are to core what their threads are. The helper thread leads when
/// nobody has waited or polled for a millisecond or some, and gives way to whoever comes.
class runtime {
 public:
  /// Opens for this rank the endpoint that its session and SINEW_FABRIC_BACK_ENDS ask for. Where a
  /// helper may be wanted, `threads` becomes `many`.
  static std::unique_ptr<runtime> open(std::unique_ptr<boot::session> session, threading threads);
  /// The same with the back-ends from which to choose (fabric/back_ends.hpp): they may be the
  /// caller's own.
  static std::unique_ptr<runtime> open(std::unique_ptr<boot::session> session, threading threads,
                                       std::span<const fabric::back_end> from);
  /// For tests: a runtime over a given endpoint.
  static std::unique_ptr<runtime> over(std::unique_ptr<boot::session> session,
                                       std::unique_ptr<fabric::endpoint> endpoint,
                                       threading threads, progress how = progress::waiters);
  virtual ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  [[nodiscard]] job_rank rank() const noexcept { return endpoint_->rank(); }
  /// Ranks that were started together: 0 to size() - 1, but for those that a rank has spawned.
  [[nodiscard]] int size() const noexcept { return size_; }
  /// Ranks that this one may ever have to do with: 0 to reach() - 1.
  [[nodiscard]] int reach() const noexcept { return endpoint_->size(); }
  /// Until messages go to that tenant of a place (fabric/fabric.hpp). Suspends. Throws nothing.
  /// Cold.
  void meet(job_rank peer, std::uint32_t tenant = fabric::whoever_is_there);
  [[nodiscard]] bool threaded() const noexcept { return threads_ == threading::many; }
  /// SINEW_CORE_PROGRESS asks for a helper thread wherever the job can have one. Hot.
  [[nodiscard]] bool wants_helper() const noexcept { return progress_ == progress::helper; }
  /// More ranks on a node of the job than processors for them; the same answer on all ranks that
  /// were started together. Hot.
  [[nodiscard]] bool crowded() const noexcept { return crowded_; }
  /// The same of the job's start, and so the same answer on all ranks that are ever connected.
  [[nodiscard]] bool crowded_at_start() const noexcept { return crowded_at_start_; }
  [[nodiscard]] boot::session& session() noexcept { return *session_; }
  /// Nothing more is sent or expected: what was sent leaves the process, then the launcher is told
  /// that this rank ends in order. In a job on several nodes it returns when all ranks have called
  /// it. Once; throws. Cold.
  void leave();
  [[nodiscard]] fabric::endpoint& endpoint() noexcept { return *endpoint_; }

  /// One round of progress, if nobody else is at it. Returns what happened. If that was nothing,
  /// a fiber lets others run, so that a loop of tests does not keep its worker; and where ranks are
  /// crowded() such a loop gives its processor away, call by call, after the first ones. Any
  /// thread. Hot.
  int poll();
  /// The same in a loop that soon gives up and waits, or yields itself: poll() takes many calls
  /// without result for a loop of tests, and tells if it hangs, after SINEW_CORE_HANG_TIMEOUT.
  int poll_before_wait();
  /// What a loop of polls waits for has come without progress, by memory. Hot.
  void end_of_polls() noexcept { polled_since_.store(0, std::memory_order_relaxed); }
  /// Returns when `c` is done. Suspends a fiber, while its worker runs others or polls; a thread
  /// polls itself, or parks. Hot.
  void wait(completion& c);
  /// Waits until `ready(context)` holds. With threads or fibers it is called by whoever polls,
  /// after each round in which something happened, and not again once it was true. It must not
  /// wait, nor throw: others may be the ones that call it. What other threads do outside of
  /// progress is seen within 10 ms. Warm.
  void wait_until(bool (*ready)(void* context), void* context);
  /// Work that must be tried again (p2p's backlog): called after each round of progress while
  /// want_chore(true) is in force, by whoever polls. Returns how much was done.
  void set_chore(int (*chore)(void* context), void* context) noexcept;
  void want_chore(bool wanted) noexcept { want_chore(0, wanted); }
  /// The same for other modules: the number of their chore, by which they want it. Cold.
  /// `sleep`, if not null, is called with true before whoever may run the chore sleeps on the
  /// doorbell while it is wanted, after all rounds: it sees to it that what the chore looks for
  /// rings, and returns false if there is something to do at once. And with false after the sleep,
  /// or instead of it.
  [[nodiscard]] int add_chore(int (*chore)(void* context), void* context,
                              chore_place where = chore_place::anywhere,
                              bool (*sleep)(void* context, bool begins) = nullptr);
  void want_chore(int which, bool wanted) noexcept;
  /// Returns once nobody runs it any more. Not in a handler. Cold.
  void drop_chore(int which) noexcept;

  /// What `what` needs is set up, so messages for it may be handled at any moment: the helper
  /// thread, if this job has one for that, may serve them. True if it has: end_service() once it is
  /// to be set up no longer. Throws where no thread can be had. Cold.
  [[nodiscard]] bool begin_service(service what);
  void end_service();
  /// The helper does nothing in between: what its handlers use is changed. Not in a handler. Cold.
  void hold_helper();
  void release_helper() noexcept;
  /// Returns once no round of progress is under way in another thread: a handler that has woken
  /// this one may still use what is to be destroyed now. Not in a handler. Cold.
  void outlast_rounds();

  /// Sets the handler of a module (rma) to which others may have sent already: what has come is
  /// kept, and handed over in the next round of progress. Cold.
  void serve_late(fabric::handler_id id, fabric::handler function, void* context);

  /// What to print when SINEW_CORE_HANG_TIMEOUT expires in a wait (once per wait) or in a loop of
  /// polls, or when the job's time is up (once); below a line that says which. Cold.
  /// `explain`, if not null, says what a thread waits for that has given `waited` to wait(), or as
  /// the context to wait_until(); false: it does not know. By the thread that makes progress.
  using explainer = bool (*)(void* context, const void* waited, boot::awaited& what);
  void set_diagnosis(void (*print)(void* context), void* context,
                     explainer explain = nullptr) noexcept;
  /// More of it, by other modules, one or both; dropped by its context. Cold.
  void add_diagnosis(void (*print)(void* context), void* context, explainer explain = nullptr);
  void drop_diagnosis(void* context) noexcept;

  /// How often this rank has slept on the doorbell, for want of messages. Cold.
  [[nodiscard]] std::uint64_t sleeps() const noexcept {
    return sleeps_.load(std::memory_order_relaxed);
  }

  /// What other modules keep for this rank. The runtime is the one object that all communicators
  /// of a rank share.
  slot_table<runtime, slots::runtime_end> attached;

  /// All that callers need not know, above all the scheduler: src/core/runtime_impl.hpp. Every
  /// runtime is one, so no call costs a load more.
  class impl;

 protected:
  runtime(std::unique_ptr<boot::session> session, std::unique_ptr<fabric::endpoint> endpoint,
          threading threads);

 private:
  std::unique_ptr<boot::session> session_;
  std::unique_ptr<fabric::endpoint> endpoint_;
  const threading threads_;
  progress progress_ = progress::waiters;  ///< set before anybody has the runtime
  const int size_;
  bool crowded_;  ///< these two are set before anybody has the runtime
  bool crowded_at_start_;
  bool leaves_together_ = false;  ///< the same: all messages go by a network
  /// Since when nothing has happened in polls (0: none since something did). Only for yields and
  /// reports of hangs, so relaxed.
  std::atomic<std::int64_t> polled_since_{0};
  /// For tools, so relaxed. Counted where a system call follows.
  std::atomic<std::uint64_t> sleeps_{0};
  void count_sleep() noexcept { sleeps_.fetch_add(1, std::memory_order_relaxed); }
};

/// In its scope the helper thread does nothing: what its handlers use is changed. Cold.
class without_helper {
 public:
  explicit without_helper(runtime& rt) : rt_(rt) { rt.hold_helper(); }
  ~without_helper() { rt_.release_helper(); }
  without_helper(const without_helper&) = delete;
  without_helper& operator=(const without_helper&) = delete;

 private:
  runtime& rt_;
};

/// In its scope something else than a rank of this job may end a wait of this rank: another job,
/// the program itself. Then the launcher is not told that only ranks can. Warm.
class awaits_outside {
 public:
  explicit awaits_outside(runtime& rt) noexcept;
  ~awaits_outside();
  awaits_outside(const awaits_outside&) = delete;
  awaits_outside& operator=(const awaits_outside&) = delete;

 private:
  runtime& rt_;
};

}  // namespace sinew::core
