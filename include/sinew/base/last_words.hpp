// What a program can still say when it is about to end: without allocation, without stdio, on a
// stack of its own. For signal handlers and handlers of std::terminate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sinew::base {

/// A text of at most 512 bytes; what does not fit is left out.
class last_words {
 public:
  last_words& add(std::string_view text) noexcept;
  last_words& add_number(std::uint64_t value, unsigned radix = 10) noexcept;
  [[nodiscard]] std::string_view text() const noexcept { return {room_.data(), used_}; }
  /// To stderr, in one piece.
  void write() const noexcept;

 private:
  std::array<char, 512> room_{};
  std::size_t used_ = 0;
};

/// The calling thread's calls, innermost first, to stderr. Cold.
void write_backtrace() noexcept;

/// Gives the calling thread a stack for signal handlers, unless it has one: on its own it could not
/// report that there is no room left. The stack is never freed. Also prepares write_backtrace(),
/// whose first use allocates. Cold.
void prepare_last_words() noexcept;

}  // namespace sinew::base
