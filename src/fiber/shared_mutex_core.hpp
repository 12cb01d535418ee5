// SPDX-License-Identifier: BSD-3-Clause
// The lock for readers and writers, for any way of waiting: see waits.hpp.
#pragma once

#include <cstdint>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/fiber/shared_mutex.hpp"

namespace sinew::fiber {

template <class Waits>
bool basic_shared_mutex<Waits>::wait(list& in, sleeper& me, std::uint64_t deadline_ns) noexcept {
  if (me.wait(deadline_ns)) {
    return true;
  }
  writers_.lock();
  const bool gave_up = in.remove(me);
  if (gave_up && &in == &readers_) {
    --waiting_readers_;
  }
  if (gave_up && !writing_ && writers_.empty()) {
    let_readers_in_unlock();  // those that only this writer has kept out
  } else {
    writers_.unlock();
  }
  return !gave_up && me.wait();  // else it is just being woken
}

template <class Waits>
void basic_shared_mutex<Waits>::let_readers_in_unlock() noexcept {
  SINEW_EXPECT(!writing_);
  std::uint32_t count = 0;
  sleeper* const all = readers_.take(UINT32_MAX, count);
  SINEW_ASSERT(count == waiting_readers_);
  reading_ += std::exchange(waiting_readers_, 0);
  writers_.unlock();
  list::wake_taken(all);
}

template <class Waits>
bool basic_shared_mutex<Waits>::try_lock() noexcept {
  writers_.lock();
  const bool free = !writing_ && reading_ == 0;
  writing_ = writing_ || free;
  writers_.unlock();
  return free;
}

template <class Waits>
bool basic_shared_mutex<Waits>::try_lock_until(std::uint64_t deadline_ns) noexcept {
  sleeper me("write lock");
  writers_.lock();
  if (!writing_ && reading_ == 0) {
    writing_ = true;
    writers_.unlock();
    return true;
  }
  writers_.push(me);
  writers_.unlock();
  return wait(writers_, me, deadline_ns);
}

template <class Waits>
void basic_shared_mutex<Waits>::unlock() noexcept {
  writers_.lock();
  SINEW_EXPECT(writing_ && reading_ == 0);
  if (waiting_readers_ != 0) {
    writing_ = false;
    let_readers_in_unlock();
    return;
  }
  SINEW_ASSERT(readers_.empty());
  sleeper* const next = writers_.pop();
  writing_ = next != nullptr;  // handed over
  writers_.unlock();
  if (next != nullptr) {
    next->wake();
  }
}

template <class Waits>
bool basic_shared_mutex<Waits>::try_lock_shared() noexcept {
  writers_.lock();
  const bool free = !writing_ && writers_.empty();
  reading_ += free ? 1 : 0;
  writers_.unlock();
  return free;
}

template <class Waits>
bool basic_shared_mutex<Waits>::try_lock_shared_until(std::uint64_t deadline_ns) noexcept {
  sleeper me("read lock");
  writers_.lock();
  if (!writing_ && writers_.empty()) {
    ++reading_;
    writers_.unlock();
    return true;
  }
  readers_.push(me);
  ++waiting_readers_;
  writers_.unlock();
  return wait(readers_, me, deadline_ns);
}

template <class Waits>
void basic_shared_mutex<Waits>::unlock_shared() noexcept {
  writers_.lock();
  SINEW_EXPECT(reading_ != 0 && !writing_);
  sleeper* const next = --reading_ == 0 ? writers_.pop() : nullptr;
  writing_ = next != nullptr;
  // Whoever waits, somebody will let in.
  SINEW_ENSURE(writing_ || reading_ != 0 || waiting_readers_ == 0);
  writers_.unlock();
  if (next != nullptr) {
    next->wake();
  }
}

}  // namespace sinew::fiber
