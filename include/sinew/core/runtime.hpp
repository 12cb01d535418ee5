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

/// Progress (ARCHITECTURE.md, contract 2): whoever waits, polls. One thread at a time leads, that
/// is, polls; the others that are awake watch their own operation; those that have waited for long
/// are parked and woken by their operation, one after the other if all processors are taken. While
/// more threads are awake than there are processors for them, nobody spins for long. The last one
/// awake sleeps on the fabric's doorbell. A fiber that waits is suspended: its worker polls when it
/// has nothing else to do, and now and then. With `threading::one` that takes a scheduler of one
/// worker; with more, fibers are to core what their threads are.
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

  /// One round of progress, if nobody else is at it. Returns what happened. If that was nothing,
  /// a fiber lets others run, so that a loop of tests does not keep its worker. Any thread. Hot.
  int poll();
  /// The same in a loop that soon gives up and waits: poll() takes many calls without result for a
  /// loop of tests that hangs, and tells so after SINEW_CORE_HANG_TIMEOUT.
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
  [[nodiscard]] int add_chore(int (*chore)(void* context), void* context);
  void want_chore(int which, bool wanted) noexcept {
    const std::uint32_t bit = 1u << which;
    if (wanted) {
      chores_wanted_.fetch_or(bit, std::memory_order_relaxed);
    } else {
      chores_wanted_.fetch_and(~bit, std::memory_order_relaxed);
    }
  }
  void drop_chore(int which) noexcept;

  /// What to print when SINEW_CORE_HANG_TIMEOUT expires in a wait (once per wait) or in a loop of
  /// polls, or when the job's time is up (once); below a line that says which. Cold.
  void set_diagnosis(void (*print)(void* context), void* context) noexcept;
  /// More of it, by other modules; dropped by its context. Cold.
  void add_diagnosis(void (*print)(void* context), void* context);
  void drop_diagnosis(void* context) noexcept;

  /// Which contexts this rank has handed out. Made by coll with its first communicator; opaque
  /// here. The runtime is the one object that all communicators of a rank share.
  std::shared_ptr<void> contexts;

 private:
  friend class retry_loop;
  class idler;
  class fiber_poller;
  class lead;
  class presence;
  struct parked;
  struct watcher;
  /// Parked threads in the order in which they came.
  struct line {
    parked* oldest = nullptr;
    parked* latest = nullptr;
    void join(parked& p) noexcept;
    void leave(parked& p) noexcept;
  };

  [[nodiscard]] bool serves_fibers() const noexcept;
  [[nodiscard]] bool in_fiber() const noexcept;
  void wait_as_fiber(completion& c);
  int round_for_fibers();

  int round();
  [[nodiscard]] bool try_lead() noexcept;
  void follow() noexcept;
  int lead_round();
  void look_for_watchers();
  template <class Ready>
  void poll_until(Ready ready);
  void wait_among_threads(completion& c);
  [[nodiscard]] bool crowd() const noexcept;
  [[nodiscard]] std::uint32_t patience(std::uint32_t wait, std::uint32_t put_off) const noexcept;
  static void operation_done(waiter& w) noexcept;
  [[nodiscard]] bool put_off(parked& p) noexcept;
  [[nodiscard]] parked* next_ready() noexcept;
  [[nodiscard]] bool reclaim(parked& self) noexcept;
  void wait_as_watcher(bool (*ready)(void*), void* context);
  void unlist(const watcher& gone) noexcept;
  void elect() noexcept;
  void park(completion& c);
  void sleep_as(parked& self);
  [[nodiscard]] bool enlist(parked& self, parked*& instead) noexcept;
  void delist(parked& self) noexcept;

  std::unique_ptr<boot::session> session_;
  std::unique_ptr<fabric::endpoint> endpoint_;
  threading threads_;

  void do_chores(std::uint32_t wanted, int& happened);
  void watch_polls();
  [[nodiscard]] bool told_of_hang(bool hangs, const char* how) noexcept;
  void tell(const char* how) const noexcept;
  void diagnose() const noexcept;

  static constexpr int most_chores = 4;
  struct chore {
    int (*run)(void*) = nullptr;
    void* context = nullptr;
  };
  struct diagnosis {
    void (*print)(void*) = nullptr;
    void* context = nullptr;
  };
  chore chores_[most_chores];  ///< the first is set_chore's
  /// A bit each. A hint: a stale value costs a round more or less, nothing else, so relaxed.
  std::atomic<std::uint32_t> chores_wanted_{0};
  diagnosis told_[most_chores];  ///< the first is set_diagnosis's
  /// Since when nothing has happened in polls (0: none since something did), and how many of them;
  /// -1 once that was told. Only for reports of hangs, so relaxed.
  std::atomic<std::int64_t> polled_since_{0};
  std::atomic<int> quiet_polls_{0};
  std::atomic<bool> time_told_{false};
  bool crowded_ = false;  ///< more ranks than processors: give the processor away early
  int processors_ = 1;    ///< that this process may use

  /// Held by the thread that leads. Taking it is an acquire, leaving it a release, so progress
  /// rounds of different threads are ordered.
  std::atomic<bool> leading_{false};
  /// The leader sleeps, or is about to. A hint to newcomers (relaxed): see nudge in runtime.cpp.
  std::atomic<bool> resting_{false};
  /// Which thread leads from inside a wait; null if none does. Only compared with the reader's own
  /// name, so relaxed.
  std::atomic<const void*> leader_{nullptr};
  /// Threads inside wait() that are not parked; whoever wakes a parked thread counts it at once.
  /// Changes are acquire-release: the last to leave sees what those before it left behind.
  std::atomic<int> awake_{0};
  /// Threads are parked and none of them is the monitor. Written under parked_lock_ by a thread
  /// that is awake, read by the last that leaves, ordered by awake_.
  std::atomic<bool> unwatched_{false};
  /// Waits so far, by a plain increment: a hint to the monitor and a source of randomness. Relaxed.
  std::atomic<std::uint32_t> waits_{0};
  /// How many are in `ready_`, and how often one was put there. Written under parked_lock_; relaxed
  /// elsewhere: the leader, who acts upon them, has put them there itself or got the lead from who
  /// did.
  std::atomic<std::uint32_t> ready_count_{0};
  std::atomic<std::uint32_t> put_offs_{0};
  /// The number of the wait with which this turn ends. A hint, relaxed.
  std::atomic<std::uint32_t> turn_ends_{0};
  lock parked_lock_;
  line parked_;  ///< whose operations are not done; guarded by parked_lock_, as is:
  line ready_;   ///< whose operations are done, but who have no processor yet
  /// The parked thread that looks from time to time. Written under parked_lock_; others read it to
  /// learn that it is not they, so relaxed.
  std::atomic<parked*> monitor_{nullptr};

  lock watch_lock_;
  /// Changed under watch_lock_; looked at without it only for being null (relaxed: whoever adds one
  /// looks itself first, and the leader looks again after each event).
  std::atomic<watcher*> watchers_{nullptr};
};

}  // namespace sinew::core
