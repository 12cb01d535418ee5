// Instances of this rank that are being made: how many of their parts have no memory yet, and the
// event that says when all have. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "sinew/base/check.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/event/event.hpp"
#include "sinew/region/handle.hpp"

namespace sinew::region {

/// Any thread, if `threaded`. Cold.
class unfinished {
 public:
  explicit unfinished(bool threaded) noexcept : threaded_(threaded) {}

  void begin(instance i, std::uint32_t parts, sinew::event::user_event ready) {
    SINEW_EXPECT(i.exists() && parts >= 1 && ready.exists());
    const base::guard held(lock_, threaded_);
    SINEW_ASSERT(!waiting_.contains(i.bits()));
    waiting_.try_emplace(i.bits(), entry{parts, ready});
  }
  /// One more part has an answer from its owner. After the last one: the event, and the instance is
  /// no longer kept here.
  [[nodiscard]] std::optional<sinew::event::user_event> part_answered(instance i) {
    const base::guard held(lock_, threaded_);
    const auto at = waiting_.find(i.bits());
    SINEW_ASSERT(at != waiting_.end() && at->second.parts != 0);
    if (--at->second.parts != 0) {
      return {};
    }
    return remove(at);
  }
  /// No part was asked for: the event, and the instance is no longer kept here.
  [[nodiscard]] sinew::event::user_event abandon(instance i) {
    const base::guard held(lock_, threaded_);
    const auto at = waiting_.find(i.bits());
    SINEW_ASSERT(at != waiting_.end());
    return remove(at);
  }
  [[nodiscard]] std::size_t size() const {
    const base::guard held(lock_, threaded_);
    return waiting_.size();
  }

 private:
  struct entry {
    std::uint32_t parts;  ///< that have not answered
    sinew::event::user_event ready;
  };
  using entries = std::unordered_map<std::uint64_t, entry>;  ///< by handle
  sinew::event::user_event remove(entries::iterator at) {
    const sinew::event::user_event ready = at->second.ready;
    waiting_.erase(at);
    return ready;
  }

  const bool threaded_;
  mutable base::lock lock_;
  entries waiting_;  ///< guarded by lock_
};

}  // namespace sinew::region
