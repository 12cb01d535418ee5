// SPDX-License-Identifier: BSD-3-Clause
// What the library does when memory is exhausted where no caller can be told.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "sinew/base/status.hpp"

namespace sinew::base {

/// Says that memory was exhausted while `doing` and ends the process with 1, which ends the job.
/// Allocates nothing. Any context. Cold.
[[noreturn, gnu::cold]] void out_of_memory(std::string_view doing) noexcept;

/// Whether an exception that nobody catches would be met by the library's first handler, which says
/// what it was and ends the process, or by the compiler's: a program has set none. Cold.
[[nodiscard]] bool terminates_by_default() noexcept;

/// Calls f(), which must have memory: nobody can be told that it has failed. Without it, ends as
/// out_of_memory() does; any other exception of f's is one that nobody catches, and is reported so
/// (gcc before 14 forgets which one it was, if it is left to meet `noexcept`). Any context.
template <class F>
decltype(auto) must_have_memory(std::string_view doing, F&& f) noexcept {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc&) {
    out_of_memory(doing);
  } catch (...) {
    std::terminate();
  }
}

/// For handlers of messages, which cannot fail: the message is tried again, for a while. One thread
/// at a time.
class shortage {
 public:
  /// status::again(no_memory); but ends the process, as above, if it has been called all the time
  /// for a second. Cold.
  [[nodiscard, gnu::cold]] status again(std::string_view doing) noexcept;
  /// One has been called in the last seconds: a message may still be tried again. Any thread.
  [[nodiscard]] static bool any_is_recent() noexcept;

 private:
  std::uint64_t since_ns_ = 0;
  std::uint64_t last_ns_ = 0;
};

}  // namespace sinew::base
