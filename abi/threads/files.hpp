// SPDX-License-Identifier: BSD-3-Clause
// How calls of the program wait for descriptors: they try without waiting, then the fiber sleeps
// until something happens to the descriptor, and they try again.
#pragma once

#include <cstddef>

#include "abi/threads/raw.hpp"
#include "abi/threads/waiting.hpp"
#include "sinew/fiber/descriptor.hpp"

namespace sinew::threads {

/// The waits of one call.
class file_wait {
 public:
  file_wait(const char* why, moment until, handled tolerated) noexcept
      : why_(why), until_(until), tolerated_(tolerated) {
    mine.worst_handled = 0;
  }

  /// Before each look, and before `seen` is taken: a cancellation point.
  void before_look();
  [[nodiscard]] bool is_over() const noexcept { return until_ != never && pause_.now() >= until_; }
  /// After a look that found nothing: true to look again. False, with EINTR, if a handler has run
  /// that is worse than what is tolerated.
  [[nodiscard]] bool sleep(fiber::watched* files, std::size_t count);
  /// From here on it ends at this moment.
  void end_at(moment until) noexcept { until_ = until; }

 private:
  [[nodiscard]] bool signals_end_it();

  const char* why_;
  moment until_;
  handled tolerated_;
  backoff pause_;  ///< for what the kernel cannot tell of
};

/// The answer of a system call as the C library gives it. Attempts are made by raw_call().
inline long answer_of(long result) noexcept {
  if (result < 0 && result >= -4095) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}
template <class Object>
long word(Object* object) noexcept {
  return reinterpret_cast<long>(object);
}

/// Does a call on it wait at all? Keeps errno. A socket for which the kernel has said so is not
/// asked for again until doubt_blocking().
[[nodiscard]] bool waits(int descriptor) noexcept;
/// Something may have made descriptors O_NONBLOCK. After it has.
void doubt_blocking() noexcept;
/// From now on others have our sockets, too, and the kernel is asked each time.
void share_descriptors() noexcept;

/// The moment at which a call that waits for it from now on gives up: SO_RCVTIMEO, SO_SNDTIMEO.
[[nodiscard]] moment limit_of(int descriptor, fiber::readiness want) noexcept;

/// Until `attempt`, which must not wait, answers something else than -1 with EAGAIN.
template <class Attempt>
auto when_ready(int descriptor, fiber::readiness want, const char* why, Attempt attempt) {
  using answer = decltype(attempt());
  file_wait wait(why, never, handled::restart);
  const int error = errno;
  for (bool first = true;; first = false) {
    wait.before_look();
    fiber::watched file{descriptor, want, fiber::events_of(descriptor)};
    const answer got = attempt();
    if (got >= 0) {
      errno = error;
      return got;
    }
    if (errno != EAGAIN || !waits(descriptor)) {
      return got;
    }
    if (first) {
      wait.end_at(limit_of(descriptor, want));
    }
    if (wait.is_over()) {
      errno = EAGAIN;
      return got;
    }
    if (!wait.sleep(&file, 1)) {
      return answer{-1};
    }
  }
}

/// Until `look`, which must not wait, answers something else than 0, or the time is over. `files`
/// are what may end the wait.
template <class Look>
int when_one_is_ready(fiber::watched* files, std::size_t count, const char* why, moment until,
                      Look look) {
  file_wait wait(why, until, handled::nothing);
  for (;;) {
    wait.before_look();
    for (std::size_t i = 0; i < count; ++i) {
      files[i].seen = fiber::events_of(files[i].descriptor);
    }
    const int got = look();
    if (got != 0 || wait.is_over()) {
      return got;
    }
    if (!wait.sleep(files, count)) {
      return -1;
    }
  }
}

}  // namespace sinew::threads
