// SPDX-License-Identifier: BSD-3-Clause
// What a rank did and when, for a picture: spans and marks that any module may record, which
// `sinew run --trace FILE` gathers from all ranks into one Chrome trace.
//
// Off (the standard), a record costs the test of one word. On, it costs 64 bytes of a mapped file
// and a look at the clock, never a system call or a lock; what was recorded survives a crash. When
// the file is full (SINEW_BASE_TRACE_RECORDS) further records are counted and dropped.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "sinew/base/clock.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::trace {

/// What the picture groups by.
enum class kind : std::uint8_t { event, task, copy, lock, put, get, sync, message, other };

namespace detail {
/// Set once by start(), before the rank's other threads run, hence relaxed. A reader that sees it
/// late records a little less.
extern constinit std::atomic<bool> enabled;
void record(kind what, char shape, std::string_view name, std::int64_t begin_ns,
            std::int64_t end_ns, std::uint64_t id, std::uint64_t value) noexcept;
}  // namespace detail

/// Whether records are kept. Any context. Hot: one load.
[[nodiscard]] inline bool on() noexcept { return detail::enabled.load(std::memory_order_relaxed); }

/// When a span begins: now, or 0 if nothing is recorded. Any context. Hot.
[[nodiscard]] inline std::int64_t begin() noexcept { return on() ? now_ns() : 0; }

/// Something lasted from `begin_ns` (of begin(); 0: ignored) until now, and may overlap others of
/// this thread: a transfer, a wait for a lock, a task that suspends. Of `name` 26 bytes are kept;
/// `id` (an event's handle) and `value` (bytes, a count) are shown with it. Any context. Hot.
inline void span(kind what, std::string_view name, std::int64_t begin_ns, std::uint64_t id = 0,
                 std::uint64_t value = 0) noexcept {
  if (begin_ns != 0) [[unlikely]] {
    detail::record(what, 'b', name, begin_ns, now_ns(), id, value);
  }
}

/// The same for what a thread did in one go, strictly inside or beside its other such spans.
inline void slice(kind what, std::string_view name, std::int64_t begin_ns, std::uint64_t id = 0,
                  std::uint64_t value = 0) noexcept {
  if (begin_ns != 0) [[unlikely]] {
    detail::record(what, 'X', name, begin_ns, now_ns(), id, value);
  }
}

/// Something happened now. Any context. Hot.
inline void mark(kind what, std::string_view name, std::uint64_t id = 0,
                 std::uint64_t value = 0) noexcept {
  if (on()) [[unlikely]] {
    const std::int64_t now = now_ns();
    detail::record(what, 'i', name, now, now, id, value);
  }
}

/// What waits are called: `doing` names what the calling thread does, in a string that stays.
/// Before other threads run; without it waits are not recorded. Cold.
void name_waits(const char* (*doing)()) noexcept;
/// The same for statements that are spans by themselves, so that waits in them are not recorded
/// once more; null: none is being executed. They go before the calls. Cold.
void name_statements(const char* (*doing)()) noexcept;
/// What the calling thread does, as these two have it; null: nobody says. Warm.
[[nodiscard]] const char* doing() noexcept;

/// A wait that does not end at once, from here to the end of the scope; it may suspend a fiber. Hot
/// where nothing is recorded: one load.
class wait {
 public:
  wait() noexcept : begin_(begin()) {
    if (begin_ != 0) [[unlikely]] {
      name();
    }
  }
  ~wait() { span(kind::sync, name_, begin_); }
  wait(const wait&) = delete;
  wait& operator=(const wait&) = delete;

 private:
  void name() noexcept;
  std::int64_t begin_;
  const char* name_ = "";
};

/// Opens this rank's file, "<SINEW_BASE_TRACE>.<rank>", if that setting is not empty; core does it.
/// Again: nothing. Throws sinew::error if the file cannot be made. Cold.
void start(job_rank rank);

}  // namespace sinew::trace
