// SPDX-License-Identifier: BSD-3-Clause
// Messages for a module that this rank makes later than others make theirs.
#pragma once

#include <cstddef>
#include <deque>
#include <new>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::core {

/// Keeps them until somebody takes them. The fabric's handler meanwhile.
class early_messages {
 public:
  [[nodiscard]] static status keep(void* self, const fabric::arrival& m) noexcept {
    auto& all = *static_cast<early_messages*>(self);
    try {
      const base::guard held(all.lock_, true);
      all.kept_.push_back({m.source, m.head, {m.data, m.data + m.size}});
      return status::ok();
    } catch (const std::bad_alloc&) {
      return status::again(retry_reason::no_memory);
    }
  }

  void set_handler(fabric::handler function, void* context) noexcept {
    const base::guard held(lock_, true);
    function_ = function;
    context_ = context;
  }
  /// Hands them over; false if some are left. From inside progress, as any handler is called.
  [[nodiscard]] bool hand_over() noexcept {
    const base::guard held(lock_, true);
    SINEW_EXPECT(function_ != nullptr);
    while (!kept_.empty()) {
      const message& m = kept_.front();
      if (!function_(context_, {m.source, m.head, m.data.data(), m.data.size()}).done()) {
        return false;
      }
      kept_.pop_front();
    }
    return true;
  }

 private:
  struct message {
    job_rank source;
    fabric::header head;
    std::vector<std::byte> data;
  };
  base::lock lock_;  ///< guards what follows
  std::deque<message> kept_;
  fabric::handler function_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace sinew::core
