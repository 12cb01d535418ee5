// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/fiber/view.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string_view>

#include "fiber/hub.hpp"
#include "fiber/quit.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/fiber/scheduler.hpp"

// In handlers of signals: no allocation, no lock, and system calls by syscall() alone, since
// libsinew_threads.so replaces the C library's names.
namespace sinew::fiber {
namespace {

constexpr std::uint64_t most_lines = 1000;
constexpr std::uint64_t again_ns = 2'000'000'000;

/// How many fibers are in which state.
struct tally {
  struct one {
    std::string_view state;
    std::uint64_t count = 0;
  };
  std::array<one, 48> kinds{};
  std::size_t used = 0;
  std::uint64_t all = 0;
  std::uint64_t shown = 0;

  void add(std::string_view state) noexcept {
    ++all;
    one* const end = kinds.data() + used;
    one* found = std::find_if(kinds.data(), end, [&](const one& k) { return k.state == state; });
    if (found == end) {
      // Words are few; beyond them all are the last one.
      found = used < kinds.size() ? &kinds[used++] : &kinds.back();
      found->state = used < kinds.size() ? state : std::string_view("others");
    }
    ++found->count;
  }
};

void show_line(const fiber& f, const char* state) noexcept {
  base::last_words line;
  const std::string_view given = name(f);
  line.add("  fiber 0x").add_number(reinterpret_cast<std::uintptr_t>(&f), 16).add(" \"");
  line.add(given).add("\": ").add(state);
  if (const int thread = thread_running(f)) {
    line.add(" (thread ").add_number(static_cast<std::uint64_t>(thread)).add(")");
  }
  line.add("\n").write();
}

struct kernel_action {
  void* handler = nullptr;
  unsigned long flags = 0;
  void* restorer = nullptr;
  std::uint64_t mask = 0;
};

/// As soon as the handler has returned: it blocks all signals.
void take_default_action() noexcept {
  const kernel_action by_default;
  (void)::syscall(SYS_rt_sigaction, SIGQUIT, &by_default, nullptr, sizeof by_default.mask);
  (void)::syscall(SYS_tgkill, ::syscall(SYS_getpid), ::syscall(SYS_gettid), SIGQUIT);
}

bool is_ours(const struct sigaction& now) noexcept {
  return (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_quit;
}

}  // namespace

void show_fibers() noexcept {
  const scheduler* const s = scheduler::of_process();
  if (s == nullptr) {
    return;
  }
  tally t;
  s->each([](void* to, const fiber&, const char* state) { static_cast<tally*>(to)->add(state); },
          &t);
  base::last_words head;
  head.add("sinew: ").add_number(t.all).add(" fibers on ");
  head.add_number(static_cast<std::uint64_t>(s->workers())).add(" workers:");
  for (std::size_t i = 0; i < t.used; ++i) {
    head.add(i == 0 ? " " : ", ").add_number(t.kinds[i].count).add(" ").add(t.kinds[i].state);
  }
  head.add("\n").write();
  s->each(
      [](void* to, const fiber& f, const char* state) {
        auto& all = *static_cast<tally*>(to);
        if (all.shown++ < most_lines) {
          show_line(f, state);
        }
      },
      &t);
  if (t.shown > most_lines) {
    base::last_words rest;
    rest.add("  and ").add_number(t.shown - most_lines).add(" more.\n").write();
  }
}

void on_quit(int number, siginfo_t* info, void* /*context*/) {
  SINEW_EXPECT(number == SIGQUIT);
  static constinit std::atomic<std::uint64_t> before{0};
  const int error = errno;
  const auto now = static_cast<std::uint64_t>(now_ns());
  const std::uint64_t last = before.exchange(now, std::memory_order_relaxed);
  const bool from_itself = info != nullptr && info->si_code <= 0 &&
                           info->si_pid == static_cast<pid_t>(::syscall(SYS_getpid));
  if (scheduler::of_process() == nullptr || from_itself || (last != 0 && now - last < again_ns)) {
    take_default_action();
  } else {
    show_fibers();
    base::last_words hint;
    hint.add("sinew: SIGQUIT again within 2 s ends the program.\n").write();
  }
  errno = error;
}

void handle_quit() noexcept {
  struct sigaction now{};
  if (::sigaction(SIGQUIT, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
      now.sa_handler != SIG_DFL) {
    return;
  }
  struct sigaction ours{};
  ours.sa_sigaction = on_quit;
  ours.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESTART);
  ::sigfillset(&ours.sa_mask);
  ::sigaction(SIGQUIT, &ours, nullptr);
}

void handle_quit_no_more() noexcept {
  struct sigaction now{};
  if (::sigaction(SIGQUIT, nullptr, &now) == 0 && is_ours(now)) {
    struct sigaction by_default{};
    by_default.sa_handler = SIG_DFL;
    ::sigaction(SIGQUIT, &by_default, nullptr);
  }
}

}  // namespace sinew::fiber
