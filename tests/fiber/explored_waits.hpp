// SPDX-License-Identifier: BSD-3-Clause
// How objects that fibers wait for do it under the explorer: waits.hpp's argument.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "sinew/fiber/sleeper.hpp"
#include "support/explorer.hpp"

namespace sinew::fiber {

class explored_lock {
 public:
  void lock() noexcept {
    test::explorer::step();
    for (unsigned i = 0; held_.exchange(true); ++i) {
      test::explorer::wait(i);
    }
  }
  void unlock() noexcept {
    held_.store(false);
    test::explorer::step();
  }

 private:
  std::atomic<bool> held_{false};
};

/// A wait with a deadline may end at any moment, one without only if it is woken.
class explored_sleeper {
 public:
  explicit explored_sleeper(const char* /*why*/) {}
  explored_sleeper(const explored_sleeper&) = delete;
  explored_sleeper& operator=(const explored_sleeper&) = delete;

  bool wait(std::uint64_t deadline_ns = no_deadline,
            const std::atomic<std::uint32_t>* /*call_off*/ = nullptr) noexcept {
    if (deadline_ns != no_deadline) {
      test::explorer::wait(0);
      return woken_.load();
    }
    for (unsigned i = 0; !woken_.load(); ++i) {
      test::explorer::wait(i);
    }
    return true;
  }
  void wake() noexcept {
    test::explorer::step();
    woken_.store(true);
    test::explorer::step();  // it may be gone
  }

 private:
  friend class explored_list;
  std::atomic<bool> woken_{false};
};

class explored_list {
 public:
  void lock() noexcept { lock_.lock(); }
  void unlock() noexcept { lock_.unlock(); }
  void push(explored_sleeper& s) { all_.push_back(&s); }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] explored_sleeper* pop() {
    if (all_.empty()) {
      return nullptr;
    }
    explored_sleeper* const first = all_.front();
    all_.pop_front();
    return first;
  }
  bool remove(explored_sleeper& s) {
    const auto at = std::find(all_.begin(), all_.end(), &s);
    if (at == all_.end()) {
      return false;
    }
    all_.erase(at);
    return true;
  }
  /// One thread at a time has taken some: by value, since they may be gone once woken.
  [[nodiscard]] explored_sleeper* take(std::uint32_t most, std::uint32_t& count) {
    taken() = {};
    for (count = 0; count < most && !all_.empty(); ++count) {
      taken().push_back(pop());
    }
    return taken().empty() ? nullptr : taken().front();
  }
  static void wake_taken(const explored_sleeper* /*first*/) {
    const std::deque<explored_sleeper*> now = taken();
    for (explored_sleeper* each : now) {
      each->wake();
    }
  }

 private:
  static std::deque<explored_sleeper*>& taken() {
    static thread_local std::deque<explored_sleeper*> all;
    return all;
  }
  explored_lock lock_;
  std::deque<explored_sleeper*> all_;
};

struct explored_waits {
  using lock = explored_lock;
  using sleeper = explored_sleeper;
  using list = explored_list;
  static std::size_t next_turn() noexcept { return turn++; }
  static inline std::size_t turn = 0;  ///< for each run anew: runs depend on the schedule only
};

}  // namespace sinew::fiber
