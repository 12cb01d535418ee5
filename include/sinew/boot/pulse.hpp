// SPDX-License-Identifier: BSD-3-Clause
// What a rank does, in numbers, for whoever asks while it runs (`sinew top`, `sinew status`): a
// page of its memory that others find by its process number, in /proc, if they may look at the
// process.
//
// While nobody listens nothing is counted, and `open` is all that a call of a binding looks at. Who
// listens writes until when, and then clears `open`: calls count themselves from then on, and the
// first one after that time sets it again. It may be cleared at any time, so that needs no lock.
// All is relaxed but `answered`: each number stands for itself.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sinew::boot {

struct place;

/// At least a page of the system's.
#ifdef __aarch64__
inline constexpr std::size_t pulse_bytes = 65536;
#else
inline constexpr std::size_t pulse_bytes = 4096;
#endif
/// Changed with what follows, so that another version's page is not read.
inline constexpr std::uint64_t pulse_form = 0x73696e6577000001;
/// In the name of its descriptor.
inline constexpr const char* pulse_label = "pulse";

struct alignas(pulse_bytes) pulse {
  using count = std::atomic<std::uint64_t>;
  using moment = std::atomic<std::int64_t>;  ///< by now_ns(), or ns

  std::uint64_t form = 0;
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::array<char, 64> job = {};  ///< as in place; ends with 0, as the next
  std::array<char, 16> launcher = {};

  // --- who listens ---

  /// Calls of the binding go straight on: its library runs, and nobody listens.
  std::atomic<bool> open{false};
  moment listened_until{0};

  // --- calls of the program, since somebody listens ---

  std::atomic<bool> counts_calls{false};  ///< the binding does
  count calls{0};
  count messages{0};  ///< that the program has sent
  count sent{0};      ///< bytes, by the arguments of the calls
  count received{0};
  /// Time in calls is that of those that have ended, and of those that run now: so many, and the
  /// sum of the moments when they began.
  moment ended_ns{0};
  std::atomic<std::int64_t> inside{0};
  moment begun_ns{0};
  std::array<std::atomic<std::uint64_t>, 4> last_call = {};  ///< the name of the latest, cut off

  // --- of a rank that waits, and nothing has happened for a while ---

  moment waits_since{0};
  moment waiting_at{0};  ///< that was so, and is again some 10 ms later if it goes on
  std::atomic<int> question{0};
  std::atomic<int> answered{0};        ///< release: the answer is complete
  std::array<char, 2048> answer = {};  ///< a line as in wait_report.hpp; ends with 0
};
static_assert(sizeof(pulse) == pulse_bytes && std::atomic<std::uint64_t>::is_always_lock_free);

/// This process's, of this library. Whoever reads `open` often reads it in its own memory.
[[gnu::visibility("hidden")]] extern pulse own_pulse;

/// Others can see it from now on; where the system does not let us it stays the process's own. A
/// child of fork() has an empty one. By one thread, once; more calls do nothing. Cold.
void share_pulse(const place& where) noexcept;
[[nodiscard]] bool pulse_is_shared() noexcept;

}  // namespace sinew::boot
