// SPDX-License-Identifier: BSD-3-Clause
// How libsinew.so tells libsinew_clock.so, which is loaded in front of a simulated program, what
// time it is. The two are linked by these names alone.
#pragma once

#include <cstdint>

extern "C" {

/// Called by any thread, also from signal handlers.
struct sinew_followed_clock {
  std::int64_t (*now_ns)() noexcept;              ///< since the job began
  int (*sleep_ns)(std::int64_t length) noexcept;  ///< 0: the caller has to sleep by itself
};

/// Of libsinew_clock.so: from now on it shows this clock's time; null: time stands still. Absent
/// where that library is not loaded. Cold.
[[gnu::weak]] void sinew_clock_follow(const sinew_followed_clock* clock) noexcept;

}  // extern "C"
