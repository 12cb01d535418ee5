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

namespace sinew::fiber {
namespace {

struct sigaction before_segv{};
std::terminate_handler before_terminate = nullptr;
bool installed = false;

/// Text that ends with the fiber's name.
base::last_words about(const fiber& f) noexcept {
  const std::string_view given = name(f);
  base::last_words text;
  text.add("sinew: fiber ");
  return given.empty() ? text.add("0x").add_number(reinterpret_cast<std::uintptr_t>(&f), 16)
                       : text.add("\"").add(given).add("\"");
}

struct overflow {
  const fiber* who;
  const void* address;
};
std::atomic_flag overflowed = ATOMIC_FLAG_INIT;

/// Run on a stack of its own.
void say(void* what) {
  const auto& [f, address] = *static_cast<const overflow*>(what);
  about(*f)
      .add(" ran over its stack of ")
      .add_number(stacks::bytes_of(f->stack_class) / 1024)
      .add(" KiB (address 0x")
      .add_number(reinterpret_cast<std::uintptr_t>(address), 16)
      .add("): give it more, by spawn_options::stack_bytes or SINEW_FIBER_STACK\n")
      .write();
  std::abort();
}

void on_segv(int signal, siginfo_t* info, void* context) {
  if (the_hub != nullptr) {
    if (const fiber* f = the_hub->memory.guarding(info->si_addr)) {
      report_overflow(*f, info->si_addr);
    }
  }
  if ((before_segv.sa_flags & SA_SIGINFO) != 0 && before_segv.sa_sigaction != nullptr) {
    before_segv.sa_sigaction(signal, info, context);
    return;
  }
  if (before_segv.sa_handler != SIG_DFL && before_segv.sa_handler != SIG_IGN) {
    before_segv.sa_handler(signal);
    return;
  }
  // The instruction runs again, and this time takes the default action.
  ::signal(signal, SIG_DFL);
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
        text.add(": ").add(what.what());
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
  if (overflowed.test_and_set()) {
    for (;;) {
      // Wait: for the end of the process.
      ::pause();  // another worker reports its own, and ends us both
    }
  }
  what = {&f, address};
  // There is no room left here to speak.
  alignas(64) static std::array<std::byte, 64 * 1024> room;
  void* nowhere_to_return[2] = {};
  sinew_fiber_switch(nowhere_to_return, sinew_fiber_prepare(room.data() + room.size(), say, &what));
  __builtin_unreachable();
}

extern "C" void sinew_fiber_overflow(void** save) noexcept {
  // The switch works on the first two words of a control block.
  static_assert(offsetof(fiber, sp) == 0 && offsetof(fiber, low) == sizeof(void*));
  const auto& f = *reinterpret_cast<const fiber*>(save);
  report_overflow(f, f.low);
}

void install_reports() {
  base::prepare_last_words();
  if (installed) {
    return;
  }
  installed = true;
  struct sigaction mine{};
  mine.sa_sigaction = on_segv;
  mine.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK);
  ::sigemptyset(&mine.sa_mask);
  ::sigaction(SIGSEGV, &mine, &before_segv);
  before_terminate = std::set_terminate(on_terminate);
}

void remove_reports() noexcept {
  struct sigaction now{};
  if (installed && ::sigaction(SIGSEGV, nullptr, &now) == 0 && now.sa_sigaction == on_segv &&
      std::get_terminate() == on_terminate) {
    ::sigaction(SIGSEGV, &before_segv, nullptr);
    std::set_terminate(before_terminate);
    installed = false;
  }
}

}  // namespace sinew::fiber
