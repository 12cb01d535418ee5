#include "fiber/overflow.hpp"

#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>

#include "fiber/hub.hpp"
#include "sinew/base/raw_write.hpp"

namespace sinew::fiber {
namespace {

struct sigaction before_segv{};
std::terminate_handler before_terminate = nullptr;
bool installed = false;

/// A line built without allocation, for signal handlers.
class line {
 public:
  line& add(std::string_view text) noexcept {
    const std::size_t count = std::min(text.size(), room_.size() - used_);
    std::memcpy(room_.data() + used_, text.data(), count);
    used_ += count;
    return *this;
  }
  line& add_number(std::uint64_t value, unsigned radix = 10) noexcept {
    std::array<char, 24> digits{};
    std::size_t at = digits.size();
    do {
      digits[--at] = "0123456789abcdef"[value % radix];
      value /= radix;
    } while (value != 0);
    return add({digits.data() + at, digits.size() - at});
  }
  line& add_name(const fiber& f) noexcept {
    const std::string_view given(f.name, ::strnlen(f.name, sizeof f.name));
    return given.empty() ? add("fiber 0x").add_number(reinterpret_cast<std::uintptr_t>(&f), 16)
                         : add("fiber \"").add(given).add("\"");
  }
  void write() const noexcept { base::raw_write(STDERR_FILENO, {room_.data(), used_}); }

 private:
  std::array<char, 400> room_{};
  std::size_t used_ = 0;
};

void write_backtrace() noexcept {
  std::array<void*, 64> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
}

struct overflow {
  const fiber* who;
  const void* address;
};
std::atomic_flag overflowed = ATOMIC_FLAG_INIT;

/// Run on a stack of its own.
void say(void* what) {
  const auto& [f, address] = *static_cast<const overflow*>(what);
  line text;
  text.add("sinew: ").add_name(*f).add(" ran over its stack of ");
  text.add_number(stacks::bytes_of(f->stack_class) / 1024).add(" KiB (address 0x");
  text.add_number(reinterpret_cast<std::uintptr_t>(address), 16);
  text.add("): give it more, by spawn_options::stack_bytes or SINEW_FIBER_STACK\n").write();
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
    line text;
    text.add("sinew: ").add_name(*f);
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
    write_backtrace();
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
  provide_signal_stack();
  if (installed) {
    return;
  }
  installed = true;
  // The first backtrace loads the unwinder, which allocates: now, not on a small stack.
  void* frame = nullptr;
  (void)::backtrace(&frame, 1);
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

void provide_signal_stack() {
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  constexpr std::size_t bytes = 64 * 1024;
  void* room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    stack_t mine{};
    mine.ss_sp = room;
    mine.ss_size = bytes;
    ::sigaltstack(&mine, nullptr);
  }
}

}  // namespace sinew::fiber
