// SPDX-License-Identifier: BSD-3-Clause
// What fibers and threads wait for: each a list of sleepers and a few words.
#include "fiber/shared_mutex_core.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/barrier.hpp"
#include "sinew/fiber/condition_variable.hpp"
#include "sinew/fiber/future.hpp"
#include "sinew/fiber/mutex.hpp"
#include "sinew/fiber/once.hpp"
#include "sinew/fiber/semaphore.hpp"

namespace sinew::fiber {

template class basic_shared_mutex<real_waits>;

bool mutex::lock_slowly(std::uint64_t deadline_ns) noexcept {
  sleeper me("mutex");
  waiting_.lock();
  if (state_.exchange(wanted, std::memory_order_acquire) == free) {
    // Ours.
    SINEW_ASSERT(waiting_.empty());  // as always when the mutex is free
    state_.store(held, std::memory_order_relaxed);
    waiting_.unlock();
    return true;
  }
  waiting_.push(me);
  waiting_.unlock();
  return waiting_.wait(me, deadline_ns);
}

void mutex::unlock_slowly() noexcept {
  waiting_.lock();
  SINEW_EXPECT(state_.load(std::memory_order_relaxed) == wanted);
  sleeper* next = waiting_.pop();
  if (next == nullptr) {
    state_.store(free, std::memory_order_release);  // they gave up
  } else if (waiting_.empty()) {
    state_.store(held, std::memory_order_relaxed);
  }
  waiting_.unlock();
  if (next != nullptr) {
    next->wake();
  }
}

bool condition_variable::wait_until(mutex& held, std::uint64_t deadline_ns) noexcept {
  sleeper me("condition");
  waiting_.lock();
  waiting_.push(me);
  waiting_.unlock();
  held.unlock();
  const bool notified = waiting_.wait(me, deadline_ns);
  held.lock();
  return notified;
}

void condition_variable::notify_one() noexcept {
  if (waiting_.none_seen()) {
    return;
  }
  waiting_.lock();
  sleeper* next = waiting_.pop();
  waiting_.unlock();
  if (next != nullptr) {
    next->wake();
  }
}

void condition_variable::notify_all() noexcept {
  if (!waiting_.none_seen()) {
    waiting_.lock();
    waiting_.wake_all_unlock();
  }
}

bool barrier::wait() noexcept {
  sleeper me("barrier");
  waiting_.lock();
  SINEW_EXPECT(arrived_ < parties_);
  if (++arrived_ == parties_) {
    arrived_ = 0;
    waiting_.wake_all_unlock();
    return true;
  }
  waiting_.push(me);
  waiting_.unlock();
  (void)waiting_.wait(me);
  return false;
}

waited semaphore::acquire(std::uint64_t deadline_ns) noexcept {
  sleeper me("semaphore");
  waiting_.lock();
  SINEW_ASSERT(units_ == 0 || waiting_.empty());
  if (units_ != 0) {
    --units_;
    waiting_.unlock();
    return waited::done;
  }
  return waiting_.wait_unlock(me, deadline_ns);
}

bool semaphore::try_acquire() noexcept {
  waiting_.lock();
  const bool there = units_ != 0;
  units_ -= there ? 1 : 0;
  waiting_.unlock();
  return there;
}

bool semaphore::release(std::uint32_t units) noexcept {
  waiting_.lock();
  if (units > most - units_) {
    waiting_.unlock();
    return false;
  }
  std::uint32_t served = 0;
  sleeper* const next = waiting_.take(units, served);
  units_ += units - served;
  SINEW_ENSURE(units_ == 0 || waiting_.empty());
  waiting_.unlock();
  sleeper_list::wake_taken(next);
  return true;
}

std::uint32_t semaphore::units() noexcept {
  waiting_.lock();
  const std::uint32_t now = units_;
  waiting_.unlock();
  return now;
}

bool once::begin() noexcept {
  for (;;) {
    sleeper me("once");
    waiting_.lock();
    const std::uint32_t now = state_.load(std::memory_order_relaxed);
    if (now != under_way) {
      SINEW_ASSERT(waiting_.empty());
      state_.store(now == untouched ? under_way : over, std::memory_order_relaxed);
      waiting_.unlock();
      return now == untouched;
    }
    waiting_.push(me);
    waiting_.unlock();
    (void)waiting_.wait(me);
  }
}

void once::end(bool good) noexcept {
  waiting_.lock();
  SINEW_EXPECT(state_.load(std::memory_order_relaxed) == under_way);
  state_.store(good ? over : untouched, std::memory_order_release);
  waiting_.wake_all_unlock();
}

bool future::set(void* value) noexcept {
  waiting_.lock();
  if (is_set_) {
    waiting_.unlock();
    return false;
  }
  is_set_ = true;
  value_ = value;
  waiting_.wake_all_unlock();
  return true;
}

waited future::wait(std::uint64_t deadline_ns) noexcept {
  sleeper me("future");
  waiting_.lock();
  if (is_set_) {
    waiting_.unlock();
    return waited::done;
  }
  return waiting_.wait_unlock(me, deadline_ns);
}

bool future::ready() noexcept {
  waiting_.lock();
  const bool now = is_set_;
  waiting_.unlock();
  return now;
}

}  // namespace sinew::fiber
