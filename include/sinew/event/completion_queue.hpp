// SPDX-License-Identifier: BSD-3-Clause
// Events in the order in which they trigger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sinew/event/event.hpp"

namespace sinew::event {

class system;

/// An event that has triggered, with the word it was added with.
struct completed {
  event what;
  std::uint64_t tag;
  bool poisoned;
};

/// Made and emptied on one rank; any thread of it if the runtime is threaded. Ends when empty.
class completion_queue {
 public:
  explicit completion_queue(system& s);
  ~completion_queue();
  completion_queue(const completion_queue&) = delete;
  completion_queue& operator=(const completion_queue&) = delete;

  /// Allocates while more events are in it than ever before. Hot.
  void add(event e, std::uint64_t tag = 0);
  /// Takes what has triggered, at most out.size(); how many. Hot.
  [[nodiscard]] std::size_t pop(std::span<completed> out);
  /// Triggers when there is something to take: at once if there is. Warm.
  [[nodiscard]] event filled();
  /// Added and not yet taken.
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct body;
  std::unique_ptr<body> body_;
};

}  // namespace sinew::event
