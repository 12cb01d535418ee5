// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/units.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "sinew/base/check.hpp"
#include "sinew/base/signals_blocked.hpp"

extern "C" {
/// libgfortran's; absent in programs without it, as our tests. A null unit means all from 0 on.
[[gnu::weak]] void _gfortran_flush_i4(const int* unit);
}

namespace sinew::coarray {
namespace {

/// libgfortran has no call that passes over a locked unit. All units together come first, which is
/// the end of it if none is locked; else they are tried one by one, as far as programs commonly
/// number them. Those of NEWUNIT= cannot be named here: among the negative numbers are the units of
/// internal I/O, at which the call for one unit crashes.
constexpr int all_units = -1;
constexpr int highest_unit = 255;

/// A unit is taken for locked if the thread that flushes it is found asleep at so many looks in a
/// row. On a busy machine it may wait for a processor for longer, which is no sign of that.
constexpr std::chrono::milliseconds between_looks{25};
constexpr int most_asleep = 10;
constexpr int most_looks = 400;
/// I/O statements can be nested, each with a unit of its own.
constexpr int most_locked = 8;

/// Shared with the thread that flushes, which may stay behind at a locked unit for ever.
struct progress {
  std::mutex lock;
  std::condition_variable moved;
  int unit = all_units;
  int last = all_units;
  bool done = false;
  pid_t thread = 0;  ///< 0 until it runs
};

/// The thread's state in /proc; true also if that cannot be read.
bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_ends = text.rfind(')');
  return name_ends == std::string::npos || name_ends + 2 >= text.size() ||
         text[name_ends + 2] == 'S';
}

void flush_from(const std::shared_ptr<progress>& at) {
  {
    const std::lock_guard held(at->lock);
    at->thread = static_cast<pid_t>(::syscall(SYS_gettid));
  }
  for (int unit = at->unit; unit <= at->last; ++unit) {
    {
      const std::lock_guard held(at->lock);
      at->unit = unit;
    }
    at->moved.notify_one();
    _gfortran_flush_i4(unit == all_units ? nullptr : &unit);
  }
  {
    const std::lock_guard held(at->lock);
    at->done = true;
  }
  at->moved.notify_one();
}

/// The first of these units that is locked, `last` + 1 if there is none.
int flush_until_locked(int first, int last) {
  SINEW_EXPECT(first <= last);
  const auto at = std::make_shared<progress>();
  at->unit = first;
  at->last = last;
  std::thread([at] { flush_from(at); }).detach();
  std::unique_lock held(at->lock);
  int seen = first;
  int asleep = 0;
  for (int look = 0; !at->done; ++look) {
    if (at->moved.wait_for(held, between_looks, [&] { return at->done || at->unit != seen; })) {
      seen = at->unit;
      asleep = look = 0;
    } else {
      asleep = at->thread != 0 && is_asleep(at->thread) ? asleep + 1 : 0;
    }
    if (asleep == most_asleep || look == most_looks) {
      SINEW_ASSERT(seen >= first && seen <= last);
      return seen;
    }
  }
  return last + 1;
}

void flush_all_but_locked() {
  if (flush_until_locked(all_units, all_units) > all_units) {
    return;
  }
  int unit = 0;
  for (int locked = 0; locked < most_locked && unit <= highest_unit; ++locked) {
    unit = flush_until_locked(unit, highest_unit) + 1;
  }
}

}  // namespace

void flush_units() noexcept {
  if (_gfortran_flush_i4 == nullptr) {
    return;
  }
  const base::signals_blocked quiet;
  try {
    flush_all_but_locked();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): there is no more to do
    // No memory or no thread: the buffered output is lost, the error message is not.
  }
}

}  // namespace sinew::coarray
