// SPDX-License-Identifier: BSD-3-Clause
// Instances of this rank that are being made: how many of their parts have no memory yet, whether
// the event before has triggered, and the event that says when all is there. Pure.
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

  /// What is to be done next.
  struct step {
    std::optional<sinew::event::user_event> ready;  ///< all is known: it is kept here no longer
    bool failed = false;                            ///< how `ready` ends
    bool withdraw = false;  ///< it has failed: parts that still wait need not any more; withdrawn()
  };

  void begin(instance i, std::uint32_t parts, sinew::event::user_event ready) {
    SINEW_EXPECT(i.exists() && parts >= 1 && ready.exists());
    const base::guard held(lock_, threaded_);
    SINEW_ASSERT(!waiting_.contains(i.bits()));
    waiting_.try_emplace(i.bits(), entry{parts, ready});
  }
  /// All owners have been asked for parts. Before that nothing ends.
  [[nodiscard]] step all_asked(instance i) {
    const base::guard held(lock_, threaded_);
    const auto at = waiting_.find(i.bits());
    SINEW_ASSERT(at != waiting_.end() && !at->second.asked);
    at->second.asked = true;
    return next(at);
  }
  /// The event before has triggered. `ready`: it may be the beginning of another of this name,
  /// after one that has failed.
  [[nodiscard]] step begun(instance i, sinew::event::user_event ready, bool good) {
    const base::guard held(lock_, threaded_);
    const auto at = waiting_.find(i.bits());
    if (at == waiting_.end() || at->second.ready != ready) {
      return {};
    }
    at->second.begun = true;
    at->second.failed = at->second.failed || !good;
    return next(at);
  }
  /// Parts that waited have been withdrawn. Before that nothing ends.
  [[nodiscard]] step withdrawn(instance i) {
    const base::guard held(lock_, threaded_);
    const auto at = waiting_.find(i.bits());
    SINEW_ASSERT(at != waiting_.end() && at->second.withdrawing);
    at->second.withdrawing = false;
    return next(at);
  }
  /// One more part has an answer from its owner; `good`: all so far have memory.
  [[nodiscard]] step part_answered(instance i, bool good) {
    const base::guard held(lock_, threaded_);
    const auto at = waiting_.find(i.bits());
    SINEW_ASSERT(at != waiting_.end() && at->second.parts != 0);
    --at->second.parts;
    at->second.failed = at->second.failed || !good;
    return next(at);
  }
  [[nodiscard]] std::size_t size() const {
    const base::guard held(lock_, threaded_);
    return waiting_.size();
  }

 private:
  struct entry {
    std::uint32_t parts;  ///< that have not answered
    sinew::event::user_event ready;
    bool asked = false;
    bool begun = false;
    bool failed = false;
    bool withdrawing = false;
    bool withdrawn = false;
  };
  using entries = std::unordered_map<std::uint64_t, entry>;  ///< by handle
  /// What has failed waits for answers only, so that it is known at once.
  [[nodiscard]] step next(entries::iterator at) {
    entry& e = at->second;
    step s;
    s.failed = e.failed;
    if (e.asked && e.parts == 0 && (e.begun || e.failed) && !e.withdrawing) {
      s.ready = e.ready;
      waiting_.erase(at);
    } else if (e.asked && e.failed && !e.withdrawn) {
      e.withdrawn = true;
      e.withdrawing = true;
      s.withdraw = true;
    }
    return s;
  }

  const bool threaded_;
  mutable base::lock lock_;
  entries waiting_;  ///< guarded by lock_
};

}  // namespace sinew::region
