// SPDX-License-Identifier: BSD-3-Clause
// Fiber-local storage: one pointer per key and fiber. In a thread that runs no fiber: per thread.
#pragma once

#include <cstdint>

#include "sinew/base/status.hpp"

namespace sinew::fiber {

/// A key. Each fiber starts with null under it. Making one is cold and may throw std::bad_alloc;
/// there may be as many as memory holds.
class local_key {
 public:
  /// `destroy` gets each value that is not null when its fiber (or thread) ends, in the fiber,
  /// which may suspend then. What it stores meanwhile is destroyed in a further round, up to four.
  explicit local_key(void (*destroy)(void* value) = nullptr);
  /// Values that fibers still hold under it are forgotten, not destroyed.
  ~local_key();
  local_key(const local_key&) = delete;
  local_key& operator=(const local_key&) = delete;

  /// The caller's value, or null. Any context. Hot.
  [[nodiscard]] void* get() const noexcept;
  /// Sets the caller's value. retry(no_memory) if its table could not grow; nothing has changed
  /// then. Hot, but for the first use of a key in a fiber.
  [[nodiscard]] status set(void* value) noexcept;

 private:
  std::uint32_t index_;
  std::uint64_t generation_;  ///< tells this key from earlier ones with the same index
};

}  // namespace sinew::fiber
