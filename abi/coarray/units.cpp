#include "abi/coarray/units.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

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

/// A unit that does not answer for so long is taken for locked.
constexpr std::chrono::milliseconds patience{250};
/// I/O statements can be nested, each with a unit of its own.
constexpr int most_locked = 8;

/// Shared with the thread that flushes, which may stay behind at a locked unit for ever.
struct progress {
  std::mutex lock;
  std::condition_variable moved;
  int unit = all_units;
  int last = all_units;
  bool done = false;
};

void flush_from(const std::shared_ptr<progress>& at) {
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
  const auto at = std::make_shared<progress>();
  at->unit = first;
  at->last = last;
  std::thread([at] { flush_from(at); }).detach();
  std::unique_lock held(at->lock);
  for (int seen = first; !at->done; seen = at->unit) {
    if (!at->moved.wait_for(held, patience, [&] { return at->done || at->unit != seen; })) {
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
  // The program's handlers must not run in a thread that it does not know.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  (void)::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    flush_all_but_locked();
  } catch (const std::exception&) {
    // No memory or no thread: what is in the buffers is lost, the sentence is not.
  }
  (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace sinew::coarray
