// SPDX-License-Identifier: BSD-3-Clause
// Runs a few threads one at a time and decides at each of their steps who goes on: interleavings by
// seed, or all of them up to a number of preemptions. The code under test announces its accesses to
// shared state by calling step(), and wait() where it needs somebody else to move first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "sinew/base/futex.hpp"
#include "sinew/base/random.hpp"

namespace sinew::test {

/// How many times as much is explored as under a sanitizer or an emulator, which makes each step
/// slow.
#if defined(SINEW_TSAN) || defined(SINEW_ASAN) || defined(SINEW_EMULATED)
inline constexpr int exploration_scale = 1;
#else
inline constexpr int exploration_scale = 5;
#endif

/// Who goes on: an index into `others`, or -1 for the thread that is running (not if `must_leave`).
class chooser {
 public:
  virtual ~chooser() = default;
  virtual int choose(std::size_t others, bool must_leave) = 0;
};

class random_chooser final : public chooser {
 public:
  random_chooser(std::uint64_t seed, double preemption) : random_(seed), preemption_(preemption) {}
  int choose(std::size_t others, bool must_leave) override {
    if (!must_leave && !random_.with_probability(preemption_)) {
      return -1;
    }
    return static_cast<int>(random_.below(others));
  }

 private:
  random_generator random_;
  double preemption_;
};

/// Depth first through all schedules with at most `preemptions`; call next() between runs until it
/// says false. The runs must depend on nothing but the schedule.
class exhaustive_chooser final : public chooser {
 public:
  explicit exhaustive_chooser(int preemptions) : most_(preemptions) {}
  int choose(std::size_t others, bool must_leave) override {
    if (!must_leave && preempted_ == most_) {
      return -1;
    }
    if (at_ == path_.size()) {
      path_.push_back({0, others + (must_leave ? 0 : 1)});
    }
    const std::size_t taken = path_[at_++].taken;
    if (must_leave) {
      return static_cast<int>(taken);
    }
    if (taken == 0) {
      return -1;
    }
    ++preempted_;
    return static_cast<int>(taken - 1);
  }
  [[nodiscard]] bool next() {
    at_ = 0;
    preempted_ = 0;
    while (!path_.empty() && path_.back().taken + 1 == path_.back().of) {
      path_.pop_back();
    }
    if (path_.empty()) {
      return false;
    }
    ++path_.back().taken;
    return true;
  }

 private:
  struct fork {
    std::size_t taken;
    std::size_t of;
  };
  std::vector<fork> path_;
  std::size_t at_ = 0;
  int preempted_ = 0;
  int most_;
};

/// A thread's turn: it sleeps until then, without a look in between. One that spun or yielded
/// beside busy processors would be taken for busy itself, and wait for time slices.
class turn {
 public:
  void give() noexcept {
    word_.store(1, std::memory_order_release);  // with take(): what was done in turns before
    base::futex_wake(word_, 1);
  }
  void take() noexcept {
    while (word_.load(std::memory_order_acquire) == 0) {
      base::futex_wait(word_, 0);
    }
    word_.store(0, std::memory_order_relaxed);  // nobody gives it before this thread has gone on
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

class explorer {
 public:
  /// Returns when all bodies have ended. One at a time per process. A run of very many steps is
  /// taken for a livelock and ends the process.
  static void run(const std::vector<std::function<void()>>& bodies, chooser& who) {
    explorer e(bodies, who);
    active_ = &e;
    while (crew().size() < bodies.size()) {
      crew().push_back(hire(static_cast<int>(crew().size())));
    }
    crew()[0]->give();
    e.ended_.take();
    active_ = nullptr;
  }

  static void step() {
    if (me_ >= 0) {
      active_->next(false);
    }
  }
  static void wait(unsigned /*attempt*/) {
    if (me_ >= 0) {
      active_->next(true);
    }
  }

 private:
  explorer(const std::vector<std::function<void()>>& bodies, chooser& who)
      : bodies_(bodies), who_(who), alive_(bodies.size(), true) {}

  /// Turns of threads that stay from one run to the next, since new threads wait for time slices
  /// too; they and this are never given back.
  static std::vector<turn*>& crew() {
    static auto* const all = new std::vector<turn*>;
    return *all;
  }
  static turn* hire(int number) {
    auto* const mine = new turn;
    std::thread([mine, number] {
      me_ = number;
      for (;;) {
        mine->take();
        active_->bodies_[static_cast<std::size_t>(number)]();
        active_->leave();
      }
    }).detach();
    return mine;
  }

  std::vector<std::size_t> others() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < alive_.size(); ++i) {
      if (alive_[i] && static_cast<int>(i) != me_) {
        found.push_back(i);
      }
    }
    return found;
  }

  void next(bool must_leave) {
    // Alone, a thread may still wait once or twice: for what the last one did before it ended.
    constexpr long livelock = 100'000;
    const auto candidates = others();
    if (++steps_ > livelock) {
      std::fprintf(stderr, "explorer: no thread can go on after %ld steps\n", steps_);
      std::abort();
    }
    if (candidates.empty()) {
      return;
    }
    const int chosen = who_.choose(candidates.size(), must_leave);
    if (chosen < 0) {
      return;
    }
    turn& mine = *crew()[static_cast<std::size_t>(me_)];
    crew()[candidates[static_cast<std::size_t>(chosen)]]->give();
    mine.take();
  }

  void leave() {
    alive_[static_cast<std::size_t>(me_)] = false;
    const auto candidates = others();
    if (candidates.empty()) {
      return ended_.give();
    }
    const int chosen = who_.choose(candidates.size(), true);
    crew()[candidates[static_cast<std::size_t>(chosen)]]->give();
  }

  static inline explorer* active_ = nullptr;
  static inline thread_local int me_ = -1;  ///< -1: a thread that is not explored

  // Touched by the one thread whose turn it is.
  const std::vector<std::function<void()>>& bodies_;
  chooser& who_;
  std::vector<bool> alive_;
  long steps_ = 0;
  turn ended_;
};

/// The template argument for code that takes its steps from one (table_core, pool_core).
struct explored_steps {
  static void step() { explorer::step(); }
  static void wait(unsigned attempt) { explorer::wait(attempt); }
};

}  // namespace sinew::test
