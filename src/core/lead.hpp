// Who polls, as an object: however a wait or a poll ends, the lead is given back.
#pragma once

#include <atomic>

#include "sinew/core/runtime.hpp"

namespace sinew::core {

/// The lead of a runtime for several threads, or none.
class runtime::lead {
 public:
  lead() noexcept = default;
  /// Takes it if nobody has it.
  explicit lead(runtime& of) noexcept { (void)take(of); }
  ~lead() { give_back(); }
  lead(const lead&) = delete;
  lead& operator=(const lead&) = delete;

  [[nodiscard]] bool take(runtime& of) noexcept {
    if (of.try_lead()) {
      of_ = &of;
    }
    return of_ != nullptr;
  }
  void give_back() noexcept {
    if (of_ != nullptr) {
      of_->follow();
      of_ = nullptr;
    }
  }
  [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

 private:
  runtime* of_ = nullptr;
};

/// A thread that waits and is not parked. The last to leave sees to it that somebody looks.
class runtime::presence {
 public:
  explicit presence(runtime& in) noexcept : in_(in) {
    in_.awake_.fetch_add(1, std::memory_order_acq_rel);
  }
  ~presence() {
    if (in_.awake_.fetch_sub(1, std::memory_order_acq_rel) == 1 &&
        (slept || in_.unwatched_.load(std::memory_order_relaxed))) [[unlikely]] {
      in_.elect();
    }
  }
  presence(const presence&) = delete;
  presence& operator=(const presence&) = delete;

  bool slept = false;  ///< on the doorbell, as the leader

 private:
  runtime& in_;
};

}  // namespace sinew::core
