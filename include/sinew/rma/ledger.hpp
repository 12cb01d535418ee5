// SPDX-License-Identifier: BSD-3-Clause
// What is under way to whom, and not known to have been done.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::rma {

/// Two numbers for each rank: how much was sent to it, and how much of that it has done. Any
/// thread. Relaxed: a thread waits for what it has sent itself, and sees its own stores; nothing is
/// ever said to be done earlier than it was.
class ledger {
 public:
  explicit ledger(int ranks)
      : ranks_(ranks), all_(std::make_unique<account[]>(static_cast<std::size_t>(ranks))) {}

  /// Something is under way to somebody. Hot.
  [[nodiscard]] bool open() const noexcept { return open_.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool open(job_rank r) const noexcept { return sent(r) != of(r).done.load(relaxed); }

  /// To somebody other than `r`, which may be nobody. The numbers do not change together, so with
  /// several threads: to anybody.
  [[nodiscard]] bool open_but(job_rank r, bool threads) const noexcept {
    const std::uint32_t all = open_.load(relaxed);
    return all != 0 && (threads || r == no_job_rank || all != sent(r) - of(r).done.load(relaxed));
  }

  void note(job_rank r) noexcept {
    of(r).sent.fetch_add(1, relaxed);
    open_.fetch_add(1, relaxed);
  }
  /// To be asked before `r` is, and then told to settle().
  [[nodiscard]] std::uint32_t sent(job_rank r) const noexcept { return of(r).sent.load(relaxed); }
  void settle(job_rank r, std::uint32_t number) noexcept {
    std::atomic<std::uint32_t>& done = of(r).done;
    std::uint32_t before = done.load(relaxed);
    while (static_cast<std::int32_t>(number - before) > 0) {
      if (done.compare_exchange_weak(before, number, relaxed)) {
        open_.fetch_sub(number - before, relaxed);
        return;
      }
    }
  }

 private:
  static constexpr std::memory_order relaxed = std::memory_order_relaxed;
  struct account {
    std::atomic<std::uint32_t> sent{0};
    std::atomic<std::uint32_t> done{0};
  };
  [[nodiscard]] account& of(job_rank r) const noexcept {
    SINEW_EXPECT(r.below(ranks_));
    return all_[r.index()];
  }

  int ranks_;
  std::unique_ptr<account[]> all_;
  std::atomic<std::uint32_t> open_{0};  ///< of all ranks
};

}  // namespace sinew::rma
