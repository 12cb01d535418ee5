// SPDX-License-Identifier: BSD-3-Clause
// Events in order of time, for simulations whose events lie near each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sinew/base/check.hpp"

namespace sinew::route {

struct event {
  double time;
  std::uint32_t order;  ///< of equal times the one pushed first comes first
  std::uint32_t what;
  bool operator>(const event& o) const noexcept {
    return time != o.time ? time > o.time : order > o.order;
  }
};

/// A ring of buckets that spans `horizon` seconds from now; what lies beyond waits in a heap. Only
/// the bucket of now is kept in order. Pushing into the past is not allowed.
class event_wheel {
 public:
  explicit event_wheel(double horizon) : width_(horizon / (buckets / 2)), ring_(buckets) {}

  void push(double time, std::uint32_t what) {
    const event e{time, order_++, what};
    ++size_;
    const auto bucket = static_cast<std::uint64_t>(time / width_);
    SINEW_EXPECT(bucket >= now_);
    if (bucket <= now_) {
      ring_[now_ % buckets].push_back(e);
      std::push_heap(ring_[now_ % buckets].begin(), ring_[now_ % buckets].end(), std::greater<>());
    } else if (bucket < now_ + buckets) {
      ring_[bucket % buckets].push_back(e);
    } else {
      far_.push_back(e);
      std::push_heap(far_.begin(), far_.end(), std::greater<>());
    }
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  event pop() {
    SINEW_EXPECT(!empty());
    while (ring_[now_ % buckets].empty()) {
      advance();
    }
    auto& here = ring_[now_ % buckets];
    std::pop_heap(here.begin(), here.end(), std::greater<>());
    const event e = here.back();
    here.pop_back();
    --size_;
    return e;
  }

 private:
  static constexpr std::uint64_t buckets = 4096;

  void advance() {
    ++now_;
    while (!far_.empty() &&
           static_cast<std::uint64_t>(far_.front().time / width_) < now_ + buckets) {
      std::pop_heap(far_.begin(), far_.end(), std::greater<>());
      // What came within the ring's reach earlier was moved then.
      SINEW_ASSERT(static_cast<std::uint64_t>(far_.back().time / width_) + 1 == now_ + buckets);
      ring_[static_cast<std::uint64_t>(far_.back().time / width_) % buckets].push_back(far_.back());
      far_.pop_back();
    }
    auto& here = ring_[now_ % buckets];
    std::make_heap(here.begin(), here.end(), std::greater<>());
  }

  double width_;
  std::vector<std::vector<event>> ring_;
  std::vector<event> far_;
  std::uint64_t now_ = 0;
  std::uint32_t order_ = 0;
  std::size_t size_ = 0;
};

}  // namespace sinew::route
