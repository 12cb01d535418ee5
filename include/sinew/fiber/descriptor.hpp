// SPDX-License-Identifier: BSD-3-Clause
// Waiting for descriptors: fibers that wait cost nothing until something happens to one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

/// What a fiber waits for at a descriptor. Errors and hang-ups end every wait.
enum class readiness : std::uint8_t { in = 1, out = 2, any = 3 };

/// How often something has happened to a descriptor so far. Whoever makes a call that must not
/// wait takes this before, and hands it to wait_for_descriptors() if the call found nothing: what
/// happens between the two is not missed. Any context. Hot.
[[nodiscard]] std::uint32_t events_of(int descriptor) noexcept;

/// One descriptor of a wait, made by the caller; one object per descriptor and wait.
struct watched {
  int descriptor = -1;  ///< negative ones are passed over
  readiness want = readiness::in;
  std::uint32_t seen = 0;  ///< events_of(descriptor), taken before the last look

  // The rest is the wait's own.
  struct descriptor_wait* of = nullptr;
  watched* next = nullptr;
  watched* previous = nullptr;
  bool listed = false;  ///< under the lock of the descriptor
};

struct descriptor_wait_options {
  const char* why = "descriptor";  ///< for reports; lives as long as the program
  std::uint64_t deadline_ns = no_deadline;
  /// As with sleeper::wait().
  const std::atomic<std::uint32_t>* call_off = nullptr;
  /// The caller says forget_descriptor() before a number that it waited for may name another file;
  /// else the kernel is asked at each wait.
  bool told_of_closing = false;
};

enum class descriptor_wait_end : std::uint8_t {
  happened,    ///< something did, perhaps for nothing: look again
  timed_out,   ///< the deadline has passed
  called_off,  ///< call_off is not 0
  impossible   ///< the kernel cannot tell of these: always ready, or no descriptor, or no memory
};

/// Suspends until something happens to one of the descriptors that had not when `seen` was taken.
/// Fibers only. Warm: no system call if `told_of_closing` and the descriptor was waited for before.
[[nodiscard]] descriptor_wait_end wait_for_descriptors(watched* files, std::size_t count,
                                                       const descriptor_wait_options& how) noexcept;

/// The number is about to name nothing or another file. Any context.
void forget_descriptor(int descriptor) noexcept;
/// It does now: whoever still waits looks again.
void wake_waiters_of(int descriptor) noexcept;
/// Is it one of those that this module has open for itself? Those are not the program's to close.
[[nodiscard]] bool is_own_descriptor(int descriptor) noexcept;

/// Nothing is known of this number and those above, nor are they this module's. Grows.
[[nodiscard]] unsigned descriptor_bound() noexcept;

/// What is kept with a descriptor: the low byte is that of read_now() and write_now(), the rest the
/// caller's. 0 at first and after forget_descriptor(). Relaxed: what it says may be out of date.
/// Null for numbers beyond reason.
[[nodiscard]] std::atomic<std::uint32_t>* note_of_descriptor(int descriptor) noexcept;
inline constexpr std::uint32_t own_part_of_note = 0xff;

}  // namespace sinew::fiber
