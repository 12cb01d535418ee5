// SPDX-License-Identifier: BSD-3-Clause
// What a program can still say when it is about to end: without allocation, without stdio, on a
// stack of its own. For signal handlers and handlers of std::terminate.
#pragma once

#include <array>
#include <csignal>
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

/// True if a fault (SIGSEGV, SIGBUS) came from a stack that is full: the address lies where the
/// stack would grow to, or the stack pointer itself is beyond the stack's memory, as after entering
/// a function with a local array larger than what was left. `context` is what the handler was
/// given. In a signal handler.
[[nodiscard]] bool ran_over_stack(const void* address, const void* context) noexcept;

/// The stack pointer at the fault; null on processors whose context is not known here.
[[nodiscard]] const void* stack_pointer(const void* context) noexcept;

/// A handler of faults as sigaction() takes it.
using fault_handler = void (*)(int signal, siginfo_t* info, void* context);

/// Two parts of Sinew handle SIGSEGV: fibers, to recognise stacks that ran over, and the report of
/// a crashed rank. They may come in any order, so both go through one handler: it asks `look`,
/// which does not return if it knows what happened; then the program's own handler, if there was
/// one before; then `report`, and then the default action follows.
///
/// For fibers: handles SIGSEGV, whoever did so before. Cold.
void look_at_faults(fault_handler look) noexcept;
/// Not any more, if nobody has replaced the handler meanwhile. Cold.
void look_at_faults_no_more() noexcept;
/// For the report: true if the handler of SIGSEGV is ours, and calls `report` from now on. Cold.
[[nodiscard]] bool report_faults(fault_handler report) noexcept;

}  // namespace sinew::base
