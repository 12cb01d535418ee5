// SPDX-License-Identifier: BSD-3-Clause
// The time that a program of a simulated job sees: virtual, alike on all ranks, repeatable.
#pragma once

#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace sinew::clock {

inline constexpr std::int64_t second_ns = 1'000'000'000;

/// What kinds of clocks say when the job begins.
enum class kind : std::int64_t {
  monotonic = second_ns,             ///< not 0, which some take for "not set"
  date = 1'767'225'600 * second_ns,  ///< the first of January 2026, UTC
  other = -1,                        ///< processor time, and what is unknown: the system's
};
[[nodiscard]] kind kind_of(clockid_t clock) noexcept;

/// Nanoseconds since the job began, as the calling thread sees them. Also in signal handlers.
[[nodiscard]] std::int64_t now_ns() noexcept;
[[nodiscard]] inline std::int64_t now_ns(kind of) noexcept {
  return static_cast<std::int64_t>(of) + now_ns();
}

/// True: that long has passed in virtual time, by other ranks' work. False: this thread cannot let
/// it pass. It waits really, and then says so by see_at_least().
[[nodiscard]] bool let_pass(std::int64_t length) noexcept;
/// From now on the calling thread sees no earlier time than this. Others see what they saw.
void see_at_least(std::int64_t time) noexcept;
/// After a real wait that began at this time: no earlier time than its end.
void has_waited(std::int64_t since, std::int64_t length) noexcept;

/// Not more than 30 years, so that sums have room.
[[nodiscard]] inline std::int64_t ns_of(const timespec& t) noexcept {
  constexpr std::int64_t longest_s = 1'000'000'000;
  return std::min<std::int64_t>(t.tv_sec, longest_s) * second_ns + t.tv_nsec;
}
[[nodiscard]] inline std::int64_t moment_ns(const timespec& t) noexcept {
  constexpr std::int64_t last_s = 4'000'000'000;
  return std::min<std::int64_t>(t.tv_sec, last_s) * second_ns + t.tv_nsec;
}
[[nodiscard]] inline timespec timespec_of(std::int64_t ns) noexcept {
  return {static_cast<time_t>(ns / second_ns), static_cast<long>(ns % second_ns)};
}
[[nodiscard]] inline bool is_valid(const timespec& t) noexcept {
  return t.tv_nsec >= 0 && t.tv_nsec < second_ns;
}

/// The C library's function of this name, behind ours; with arguments of exactly its types.
template <class Result = int>
class real_function {
 public:
  explicit constexpr real_function(const char* name) : name_(name) {}
  template <class... Arguments>
  Result operator()(Arguments... arguments) {
    void* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = ::dlsym(RTLD_NEXT, name_);
      found_.store(found, std::memory_order_relaxed);
    }
    return reinterpret_cast<Result (*)(Arguments...)>(found)(arguments...);
  }

 private:
  const char* name_;
  std::atomic<void*> found_{nullptr};
};

}  // namespace sinew::clock
