// SPDX-License-Identifier: BSD-3-Clause
// A rank's part in finding out that a job is dead: it tells its launcher what it waits for, once it
// has waited for a while (boot/wait_report.hpp), and answers when it is asked whether it still
// does.
//
// A report has a state exactly if all threads of the program wait in this runtime for what only
// ranks of the job can do, or sleep until one of these wakes them, and all operations and
// conditions that they wait for have been looked at since nothing has happened. The state is then
// the moment since when nothing has, and how many waits have begun: it stays the same exactly while
// the rank does nothing. An answer is given only after a whole look that began when the question
// was there.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/runtime_impl.hpp"
#include "sinew/boot/wait_report.hpp"

namespace sinew::core {

class runtime::impl::wait_teller {
 public:
  explicit wait_teller(impl& rt) noexcept;

  /// A thread waits for `waited`, and has slept on the doorbell or tried in vain; since
  /// `quiet_since` nothing has happened (0: something has), and since `began` it waits, both by
  /// now_ns(). Of the thread that makes progress. Warm.
  void look(const void* waited, std::uint64_t began, std::uint64_t quiet_since) noexcept {
    if (asked_for_ && quiet_since != 0) {
      look_at_question(waited, began, quiet_since);
    }
  }
  /// Something else than ranks of this job may end a wait, or may do so no longer. Any thread.
  void note_outside(int more) noexcept { outside_.fetch_add(more, std::memory_order_relaxed); }

 private:
  void look_at_question(const void* waited, std::uint64_t began,
                        std::uint64_t quiet_since) noexcept;
  void tell(int question, const void* waited, std::uint64_t waited_ns, std::uint64_t quiet_since);
  [[nodiscard]] bool nothing_else_is_done();

  impl& rt_;
  const bool asked_for_;  ///< the launcher wants it, and time is the system's
  /// Changed by threads of the program, which wait themselves when it is looked at; so relaxed.
  std::atomic<int> outside_{0};
  // Of the thread that makes progress.
  bool told_ = false;  ///< unasked, once
  int question_ = 0;   ///< taken, and not answered yet
};

}  // namespace sinew::core
