// SPDX-License-Identifier: BSD-3-Clause
#include "fiber/overflow.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "fiber/hub.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/fiber/thread_storage.hpp"

namespace sinew::fiber {
namespace {

std::terminate_handler before_terminate = nullptr;
bool installed = false;
const char* thread_advice = "give it more, by spawn_options::stack_bytes";

/// Text that ends with the fiber's name.
base::last_words about(const fiber& f) noexcept {
  const std::string_view given = name(f);
  base::last_words text;
  text.add(f.thread_base != 0 ? "sinew: thread " : "sinew: fiber ");
  return given.empty() ? text.add("0x").add_number(reinterpret_cast<std::uintptr_t>(&f), 16)
                       : text.add("\"").add(given).add("\"");
}

struct overflow {
  const fiber* who;
  const void* address;
};
std::atomic_flag overflowed = ATOMIC_FLAG_INIT;

base::last_words overflow_of(const fiber& f, const void* address) noexcept {
  return about(f)
      .add(" ran over its stack of ")
      .add_number(stacks::bytes_of(f.stack_class) / 1024)
      .add(" KiB (address 0x")
      .add_number(reinterpret_cast<std::uintptr_t>(address), 16)
      .add("): ")
      .add(f.thread_base != 0 ? thread_advice
                              : "give it more, by spawn_options::stack_bytes or SINEW_FIBER_STACK");
}

/// Run on a stack of its own.
void say(void* what) {
  const auto& [f, address] = *static_cast<const overflow*>(what);
  overflow_of(*f, address).add(".\n").write();
  std::abort();
}

/// Of several overflows at the same time one is reported, and ends the process.
void be_the_first() noexcept {
  if (overflowed.test_and_set()) {
    for (;;) {
      // Wait: for the end of the process.
      ::pause();
    }
  }
}

/// The current fiber, if its stack pointer has left its stack: then the fault may lie anywhere in a
/// frame that is larger than all guards.
const fiber* beyond_its_stack(const void* context) noexcept {
  const worker* w = here;
  const fiber* f = w == nullptr ? nullptr : w->current_user();
  if (f == nullptr || f->low == nullptr) {
    return nullptr;
  }
  const void* const sp = base::stack_pointer(context);
  constexpr std::size_t farthest = std::size_t{1} << 30U;
  return sp < f->low && static_cast<std::size_t>(static_cast<const char*>(f->low) -
                                                 static_cast<const char*>(sp)) < farthest
             ? f
             : nullptr;
}

void on_fault(int, siginfo_t* info, void* context) {
  if (process_hub == nullptr) {
    return;
  }
  const fiber* f = process_hub->memory.guarding(info->si_addr);
  if (f == nullptr) {
    f = beyond_its_stack(context);
  }
  if (f != nullptr) {
    be_the_first();
    overflow_of(*f, info->si_addr).add("; backtrace, innermost call first:\n").write();
    base::write_backtrace();
    std::abort();
  }
}

[[noreturn]] void on_terminate() {
  const worker* w = here;
  const fiber* f = w == nullptr ? nullptr : w->current_user();
  if (f != nullptr) {
    base::last_words text = about(*f);
    if (const std::exception_ptr e = std::current_exception()) {
      text.add(" was left by an exception");
      try {
        std::rethrow_exception(e);
      } catch (const std::exception& what) {
        text.add(": ").add(as_clause(what.what()));
      } catch (...) {
        text.add(" that is no std::exception");
      }
    } else {
      text.add(" called std::terminate");
    }
    text.add("; backtrace, innermost call first:\n").write();
    base::write_backtrace();
  }
  if (before_terminate != nullptr && before_terminate != on_terminate) {
    before_terminate();
  }
  std::abort();
}

}  // namespace

void report_overflow(const fiber& f, const void* address) noexcept {
  static overflow what;
  be_the_first();
  what = {&f, address};
  // There is no room left here to speak.
  alignas(64) static std::array<std::byte, std::size_t{64} << 10> stack;
  void* nowhere_to_return[2] = {};
  sinew_fiber_switch(nowhere_to_return,
                     sinew_fiber_prepare(stack.data() + stack.size(), say, &what));
  __builtin_unreachable();
}

extern "C" void sinew_fiber_overflow(void** save) noexcept {
  // The switch works on the first two words of a control block.
  static_assert(offsetof(fiber, sp) == 0 && offsetof(fiber, low) == sizeof(void*));
  const auto& f = *reinterpret_cast<const fiber*>(save);
  report_overflow(f, f.low);
}

void advise_on_thread_stacks(const char* advice) noexcept { thread_advice = advice; }

void install_reports() {
  base::prepare_last_words();
  base::look_at_faults(on_fault);
  if (installed) {
    return;
  }
  installed = true;
  before_terminate = std::set_terminate(on_terminate);
}

void remove_reports() noexcept {
  base::look_at_faults_no_more();
  if (installed && std::get_terminate() == on_terminate) {
    std::set_terminate(before_terminate);
    installed = false;
  }
}

}  // namespace sinew::fiber
