// SPDX-License-Identifier: BSD-3-Clause
// What a runtime is made of. Private to core: whoever waits, polls or sends includes
// sinew/core/runtime.hpp, and is not compiled again when something changes here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/early_messages.hpp"
#include "core/waiting.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/core/losses.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/back_ends.hpp"

namespace sinew::core {

class outside;

/// Every runtime is one, see of().
class runtime::impl final : public runtime {
 public:
  class idler;
  class fiber_poller;
  class wait_teller;
  class helper;
  using lead = thread_waiting::lead;

  impl(std::unique_ptr<boot::session> session, std::unique_ptr<fabric::endpoint> endpoint,
       threading threads, std::vector<fabric::back_end> back_ends = fabric::wanted_back_ends());
  ~impl() override;

  [[nodiscard]] static impl& of(runtime& rt) noexcept { return static_cast<impl&>(rt); }

  /// Ranks of other jobs, once this one has met some. Set once: release, so that it is complete for
  /// whoever sees it (acquire). Any thread.
  [[nodiscard]] outside* others() const noexcept { return others_.load(std::memory_order_acquire); }
  void set_others(outside& made) noexcept { others_.store(&made, std::memory_order_release); }

  /// What ranks of other jobs may be reached by.
  [[nodiscard]] std::span<const fabric::back_end> back_ends() const noexcept { return back_ends_; }

  [[nodiscard]] losses& lost() noexcept { return losses_; }

  /// Prints what is waited for, by all diagnoses.
  void diagnose() const noexcept;
  void note_outside(int more) noexcept;
  /// See wait_teller::look().
  void look_for_question(const void* waited, std::uint64_t began,
                         std::uint64_t quiet_since) noexcept;

 private:
  friend class runtime;  // the calls of its users
  class edge;
  struct watcher;

  [[nodiscard]] bool serves_fibers() const noexcept;
  [[nodiscard]] bool in_fiber() const noexcept;
  void wait_as_fiber(completion& c);
  int round_for_fibers();

  int round(std::uint32_t chores);
  int lead_round();
  int helper_round();
  [[nodiscard]] bool takes_lead(lead& mine);
  void end_helper();
  template <class Ready>
  void poll_until(const void* waited, Ready ready);
  void wait_among_threads(completion& c);

  [[nodiscard]] bool is_watched() const noexcept {
    return watchers_.load(std::memory_order_relaxed) != nullptr;
  }
  void look_for_watchers();
  void wait_as_watcher(bool (*ready)(void*), void* context);
  void unlist(const watcher& gone) noexcept;
  /// The context of the condition that `waited`, a watcher's completion, stands for; or `waited`.
  [[nodiscard]] const void* condition_of(const void* waited) noexcept;

  int poll_once();
  void do_chores(std::uint32_t wanted, int& happened);
  void count_quiet_poll();
  [[nodiscard]] bool report_hang(bool hangs, const char* how) noexcept;
  void report(const char* how) const noexcept;

  /// Of the thread that makes progress, or the helper; `chores`: which of them it may run.
  void sleep_at_the_doorbell(std::uint64_t timeout_ns, std::uint32_t chores = ~std::uint32_t{0}) {
    outside* const met = others();
    if (met == nullptr || prepare_sleep(*met)) {
      // After this thread is known to rest: want_chore() rings if this load misses it.
      std::atomic_thread_fence(std::memory_order_seq_cst);
      const std::uint32_t told = chores_told_.load(std::memory_order_relaxed) &
                                 chores_wanted_.load(std::memory_order_relaxed) & chores;
      if (told == 0 || tell_of_sleep(told, true)) {
        count_sleep();
        endpoint_->sleep(ends_by_itself(chores) ? timeout_ns : base::no_limit);
      }
      if (told != 0) {
        (void)tell_of_sleep(told, false);
      }
    }
  }
  /// Whether something but a message may be to be done after a sleep: another thread's work, or a
  /// chore's that nothing rings for. In real time every sleep is as short as if it were so.
  [[nodiscard]] bool ends_by_itself(std::uint32_t chores) const noexcept {
    return !endpoint_->bounds().sleeps_at_once || serves_fibers() || looks_by_itself(chores);
  }
  /// Whether a chore wants to look again and again.
  [[nodiscard]] bool looks_by_itself(std::uint32_t chores = ~std::uint32_t{0}) const noexcept {
    return (chores_wanted_.load(std::memory_order_relaxed) &
            ~chores_told_.load(std::memory_order_relaxed) & chores) != 0;
  }
  /// Whether all of these agree to it.
  bool tell_of_sleep(std::uint32_t chores, bool begins);
  /// False: there is something to do first. In outside.cpp.
  [[nodiscard]] static bool prepare_sleep(outside& met);

  static constexpr int most_chores = 20;
  struct chore {
    int (*run)(void*) = nullptr;
    void* context = nullptr;
    bool (*sleep)(void*, bool) = nullptr;
  };
  struct diagnosis {
    void (*print)(void*) = nullptr;
    void* context = nullptr;
    explainer explain = nullptr;
  };
  std::atomic<outside*> others_{nullptr};
  chore chores_[most_chores];  ///< the first is set_chore's
  /// Of the chores, a bit each: those that the helper leaves to the program's threads. Relaxed: a
  /// chore is added before it is wanted.
  std::atomic<std::uint32_t> chores_in_calls_{0};
  /// Those that are told of sleeps. Relaxed, for the same reason.
  std::atomic<std::uint32_t> chores_told_{0};
  /// A bit each. Set (release) after the chore was added, read by rounds with acquire. Otherwise a
  /// hint: a stale value costs a round more or less, nothing else; but see want_chore() for sleeps
  /// and drop_chore().
  std::atomic<std::uint32_t> chores_wanted_{0};
  diagnosis diagnoses_[most_chores];  ///< the first is set_diagnosis's
  /// How many polls since polled_since_, up to those that make a loop; one more once a report was
  /// made. For reports and yields only, so relaxed.
  std::atomic<int> quiet_polls_{0};
  std::atomic<bool> time_reported_{false};  ///< relaxed: it only chooses who reports

  early_messages early_;
  int early_chore_ = -1;

  thread_waiting waiting_;
  base::lock helper_lock_;          ///< guards the three below
  std::unique_ptr<helper> helper_;  ///< from the first begin_service() on that wants one
  int services_ = 0;                ///< begun and not ended: one bar of the helper's is lifted
  bool has_left_ = false;

  base::lock watch_lock_;
  /// Changed under watch_lock_; looked at without it only for being null (relaxed: whoever adds one
  /// looks itself first, and the leader looks again after each event).
  std::atomic<watcher*> watchers_{nullptr};
  const std::vector<fabric::back_end> back_ends_;
  const std::unique_ptr<wait_teller> teller_;
  losses losses_;  ///< last: it adds a chore
};

}  // namespace sinew::core
