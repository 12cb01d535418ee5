// Mutex, condition variable and barrier: each a list of sleepers and a few words.
#include "sinew/fiber/barrier.hpp"
#include "sinew/fiber/condition_variable.hpp"
#include "sinew/fiber/mutex.hpp"

namespace sinew::fiber {

bool mutex::lock_slowly(std::uint64_t deadline_ns) noexcept {
  sleeper me("mutex");
  waiting_.lock();
  if (state_.exchange(wanted, std::memory_order_acquire) == free) {
    // Ours. Nobody was in the list: it is empty whenever the mutex is free.
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

}  // namespace sinew::fiber
