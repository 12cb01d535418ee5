// Which of two ways of doing one thing costs less, found by doing it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sinew::rma {

/// Goes one way for phases of some sixteen uses, and tries the other one for a phase now and then:
/// seldom, the longer the answer stays the same, and at once if the cost has doubled. One thread.
class cheaper_way {
 public:
  /// Whether to go the second way now. Hot.
  [[nodiscard]] bool second() const noexcept { return second_; }

  /// What this use has cost, in any unit that makes the uses alike. Hot.
  void note(std::uint64_t cost) noexcept {
    ++uses_;
    if (uses_ <= unheeded) {
      return;  // it finds the caches as the other way left them
    }
    sum_ += cost;
    largest_ = std::max(largest_, cost);
    if (uses_ == unheeded + counted) {
      end_phase(sum_ - largest_);  // without the one that was interrupted, if one was
      uses_ = 0;
      sum_ = 0;
      largest_ = 0;
    }
  }

  static constexpr int unheeded = 8;
  static constexpr int counted = 8;
  /// Phases between two trials: a trial may cost twenty times what the other way does.
  static constexpr int shortest_pause = 4;
  static constexpr int longest_pause = 1024;

 private:
  void end_phase(std::uint64_t cost) noexcept {
    if (trial_) {
      trial_ = false;
      if (cost < usual_) {
        usual_ = cost;
        pause_ = shortest_pause;
      } else {
        second_ = !second_;
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
    if (left_ <= 0) {
      trial_ = true;
      second_ = !second_;
    }
  }

  std::uint64_t sum_ = 0;
  std::uint64_t largest_ = 0;
  std::uint64_t usual_ = 0;  ///< a phase of the way gone; 0: not yet known
  int uses_ = 0;
  int pause_ = shortest_pause;
  int left_ = 1;  ///< phases until the next trial
  bool trial_ = false;
  bool second_ = false;
};

}  // namespace sinew::rma
