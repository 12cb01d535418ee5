// SPDX-License-Identifier: BSD-3-Clause
// Which of two ways of doing one thing costs less, found by doing it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sinew/base/check.hpp"

namespace sinew::rma {

/// Goes one way, and tries the other one now and then: seldom, the longer the answer stays the
/// same, and at once if the cost has doubled. Uses are judged by windows. After a change of ways
/// the caches are as the other way left them for a while, so that the first windows tell nothing.
/// One thread.
class cheaper_way {
 public:
  /// Whether to go the second way now. Hot.
  [[nodiscard]] bool second() const noexcept { return second_; }

  /// What this use has cost, in any unit that makes the uses alike. Hot.
  void note(std::uint64_t cost) noexcept {
    sum_ += cost;
    largest_ = std::max(largest_, cost);
    if (++uses_ == window) {
      SINEW_ASSERT(largest_ <= sum_);
      end_window(sum_ - largest_);  // without the one that was interrupted, if one was
      uses_ = 0;
      sum_ = 0;
      largest_ = 0;
    }
  }

  static constexpr int window = 8;
  /// Windows after a change of ways that tell nothing.
  static constexpr int settling = 2;
  /// Windows between two trials: a trial may cost twenty times what the other way does.
  static constexpr int shortest_pause = 16;
  static constexpr int longest_pause = 2048;
  static_assert(window > 1 && settling >= 1 && shortest_pause < longest_pause);

 private:
  void change() noexcept {
    second_ = !second_;
    settling_ = settling;
  }

  void end_window(std::uint64_t cost) noexcept {
    if (settling_ != 0) {
      --settling_;
      return;
    }
    if (trial_) {
      trial_ = false;
      if (cost < usual_) {
        usual_ = cost;
        pause_ = shortest_pause;
      } else {
        change();
        pause_ = std::min(2 * pause_, longest_pause);
      }
      left_ = pause_;
      return;
    }
    const bool changed = usual_ != 0 && cost > 2 * usual_;
    usual_ = usual_ == 0 || changed ? cost : (3 * usual_ + cost) / 4;
    if (changed) {
      pause_ = shortest_pause;
      left_ = 0;
    } else {
      --left_;
    }
    SINEW_ASSERT(pause_ >= shortest_pause && pause_ <= longest_pause);
    if (left_ <= 0) {
      trial_ = true;
      change();
    }
  }

  std::uint64_t sum_ = 0;
  std::uint64_t largest_ = 0;
  std::uint64_t usual_ = 0;  ///< a window of the way gone; 0: not yet known
  int uses_ = 0;
  int settling_ = settling;
  int pause_ = shortest_pause;
  int left_ = 1;  ///< windows until the next trial
  bool trial_ = false;
  bool second_ = false;
};

}  // namespace sinew::rma
