// SPDX-License-Identifier: BSD-3-Clause
// A lock for many readers or one writer, of fibers and threads alike, mixed.
#pragma once

#include <cstdint>

#include "sinew/fiber/sleeper.hpp"
#include "sinew/fiber/waits.hpp"

namespace sinew::fiber {

/// Nobody starves: a reader that comes while a writer waits goes after that writer, and a writer
/// that leaves lets all readers in that wait by then. Not recursive. Whoever holds it need not be
/// who gives it back. All zeros when free; trivially destroyed, while free. Fits std::shared_lock
/// and std::unique_lock. `Waits`: see waits.hpp.
template <class Waits>
class basic_shared_mutex {
 public:
  constexpr basic_shared_mutex() noexcept = default;
  basic_shared_mutex(const basic_shared_mutex&) = delete;
  basic_shared_mutex& operator=(const basic_shared_mutex&) = delete;

  /// Suspends while others hold it. Not ended by cancel().
  void lock() noexcept { (void)try_lock_until(no_deadline); }
  [[nodiscard]] bool try_lock() noexcept;
  /// False if it could not be had before `deadline_ns` of now_ns().
  [[nodiscard]] bool try_lock_until(std::uint64_t deadline_ns) noexcept;
  /// Any context. Never suspends.
  void unlock() noexcept;

  void lock_shared() noexcept { (void)try_lock_shared_until(no_deadline); }
  [[nodiscard]] bool try_lock_shared() noexcept;
  [[nodiscard]] bool try_lock_shared_until(std::uint64_t deadline_ns) noexcept;
  void unlock_shared() noexcept;

 private:
  using list = typename Waits::list;
  using sleeper = typename Waits::sleeper;

  bool wait(list& in, sleeper& me, std::uint64_t deadline_ns) noexcept;
  void let_readers_in_unlock() noexcept;

  // All of it under writers_' lock, also readers_.
  list writers_;
  list readers_;
  std::uint32_t waiting_readers_ = 0;
  std::uint32_t reading_ = 0;
  bool writing_ = false;
};

using shared_mutex = basic_shared_mutex<real_waits>;

}  // namespace sinew::fiber
