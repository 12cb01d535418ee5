// SPDX-License-Identifier: BSD-3-Clause
// How single operations went: when they could start, started and ended, and how they were done.
//
//   profiler seen(events);
//   {
//     const profiled these(seen, 7);                       // a number of the program's own
//     done = all.spawn<&work>(where, {.after = ready});    // tasks, copies, fills, reductions
//   }
//   events.wait(seen.filled());
//   seen.pop(room);                                        // responses, as they come
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sinew/base/ids.hpp"
#include "sinew/event/event.hpp"

namespace sinew::event {

class system;

enum class performed : std::uint8_t { task, copy, fill, reduction };
/// How bytes went; not_moved: a task, or what has failed.
enum class moved_by : std::uint8_t {
  not_moved,
  mapped,    ///< by loads and stores, all memory being mapped where it was done
  kernel,    ///< some of it by the kernel's copies from or to another rank's memory
  messages,  ///< packed, in messages to the owner of the target
};

/// A response. Times are of the steady clock of the host where it was done. What never started,
/// since its precondition was poisoned, has neither begin nor end.
struct profile {
  event what;                 ///< the operation's event; triggered, or about to
  std::uint64_t tag = 0;      ///< of the `profiled` in whose scope it was begun
  std::int64_t ready_ns = 0;  ///< its precondition had triggered, and its rank knew that
  std::int64_t started_ns = 0;
  std::int64_t ended_ns = 0;
  job_rank where = 0;  ///< the rank that did it
  performed kind = performed::task;
  moved_by way = moved_by::not_moved;
  bool poisoned = false;
};

/// Collects a rank's responses. One per system at a time. Each operation gives one response: a copy
/// of all fields, a reduction into several parts, or a transfer between several nodes can be
/// several operations. An operation whose rank is lost gives none. Any thread if the runtime is
/// threaded.
class profiler {
 public:
  /// Takes one topic of the system. Cold.
  explicit profiler(system& s);
  /// Responses that come later are dropped.
  ~profiler();
  profiler(const profiler&) = delete;
  profiler& operator=(const profiler&) = delete;

  /// Takes what has come, at most out.size(); how many. Warm.
  [[nodiscard]] std::size_t pop(std::span<profile> out);
  /// Triggers when there is something to take: at once if there is. Warm.
  [[nodiscard]] event filled();

 private:
  struct body;
  std::unique_ptr<body> body_;
};

/// What this thread begins while it lives is profiled. Nothing in its scope may wait. `by` is named
/// since it must be there: what comes for nobody ends the job. Hot.
class profiled {
 public:
  explicit profiled(profiler& by, std::uint64_t tag = 0) noexcept;
  ~profiled();
  profiled(const profiled&) = delete;
  profiled& operator=(const profiled&) = delete;

 private:
  std::array<std::uint64_t, 2> before_;
};

/// For modules that perform operations: what travels with one. No response is wanted by default.
struct profile_request {
  std::uint64_t reply = 0;  ///< the event whose owner is told, or 0
  std::uint64_t tag = 0;
  std::int64_t ready_ns = 0;
  std::int64_t started_ns = 0;

  [[nodiscard]] bool wanted() const noexcept { return reply != 0; }
  void is_ready() noexcept;
  void has_started() noexcept;
};
/// What this thread wants of an operation that it begins, whose event is `done` of this rank.
[[nodiscard]] profile_request wanted_profile(event done) noexcept;
[[nodiscard]] bool profile_is_wanted() noexcept;
/// Sends the response. Before `done` triggers, so that it is there when the event is, if the two go
/// from one rank to another. Warm.
void respond(system& s, const profile_request& to, performed kind, moved_by way, bool well);

}  // namespace sinew::event
