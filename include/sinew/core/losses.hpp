// SPDX-License-Identifier: BSD-3-Clause
// Ranks of the job that have died while it goes on (`sinew run --survive`): who asks and who is
// told.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/boot/survival.hpp"

namespace sinew::core {

class runtime;

/// Who is told of a death, in this order: operations that end when the network gives a rank up look
/// at what messages know of it, and what stands above asks what stands below.
enum class loss_listener : std::uint8_t { messages, network, memory, events, images };

/// Of a runtime, as long as that. Any thread.
class losses {
 public:
  /// `known`: null if the job ends when a rank dies.
  losses(runtime& rt, boot::survival* known);
  losses(const losses&) = delete;
  losses& operator=(const losses&) = delete;
  [[nodiscard]] static losses& of(runtime& rt) noexcept;

  /// Of a chore that looks for deaths and votes alone (runtime::add_chore()): null where nothing
  /// rings for these, so that it has to be run again and again.
  using sleep_function = bool (*)(void* context, bool begins);
  [[nodiscard]] static sleep_function ring_for(runtime& rt, sleep_function sleep) noexcept;

  /// Whether the job goes on without ranks that die. Hot.
  [[nodiscard]] bool are_survived() const noexcept { return known_ != nullptr; }
  /// As the launcher knows it, which may be before listeners are told. Warm.
  [[nodiscard]] bool is_dead(job_rank rank) const noexcept {
    return known_ != nullptr && known_->is_dead(rank, known_->deaths());
  }

  /// The network has given the rank up: nothing of it comes any more. Hot.
  [[nodiscard]] bool is_gone(job_rank rank) const noexcept {
    return known_ != nullptr && gone_[rank.index()].load(std::memory_order_acquire);
  }

  /// Calls `tell` once for each other rank that dies, or has died, in the order in which all ranks
  /// hear of it: in rounds of progress, not in this call. Nothing where deaths are not survived.
  /// Cold.
  void listen(loss_listener as, void (*tell)(void* context, job_rank dead), void* context);
  /// No call is under way on return, nor comes any more. Not in one. Cold.
  void stop_listening(loss_listener as);

 private:
  static constexpr std::size_t kinds = 5;
  struct listener {
    void (*tell)(void*, job_rank) = nullptr;
    void* context = nullptr;
    std::uint32_t told = 0;
  };
  [[nodiscard]] listener& at(loss_listener as) noexcept {
    return listeners_[static_cast<std::size_t>(as)];
  }
  int tell_all();
  bool note_sleep(bool begins) noexcept;
  void give_up(job_rank dead);

  runtime& runtime_;
  boot::survival* const known_;
  /// By rank. Set after the network has given it up (release): what was to come has come.
  std::unique_ptr<std::atomic<bool>[]> gone_;
  base::lock lock_;  ///< guards the listeners
  std::array<listener, kinds> listeners_;
  /// How many deaths all have been told of; a round looks at it first. Relaxed: of the thread that
  /// makes progress, but for listen(), which only makes it look again.
  std::atomic<std::uint32_t> told_{0};
  bool woken_ = false;  ///< perhaps by a vote; of the thread that makes progress
};

}  // namespace sinew::core
