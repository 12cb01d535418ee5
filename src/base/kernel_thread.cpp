// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/kernel_thread.hpp"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sinew/base/signals_blocked.hpp"

namespace sinew::base {

int start_kernel_thread(std::thread::native_handle_type& thread, void* (*run)(void*),
                        void* argument) {
  using create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  void* const past = ::dlsym(RTLD_DEFAULT, "sinew_kernel_thread");
  const signals_blocked quiet;
  return (past != nullptr ? reinterpret_cast<create>(past) : &::pthread_create)(&thread, nullptr,
                                                                                run, argument);
}

namespace {

constexpr const char* own_name = "sinew";

/// A thread's, which has that of whoever made it until it gets one of its own.
std::string name_of(const std::string& thread) {
  std::string name;
  std::getline(std::ifstream("/proc/self/task/" + thread + "/comm"), name);
  return name;
}

/// It waits for a word of this process's memory, without a limit: for another thread to wake it, or
/// to end. One that has been woken does not sleep any more, whenever it runs.
bool sleeps_until_woken(const std::string& thread, const std::vector<std::string>& threads) {
  std::ifstream file("/proc/self/task/" + thread + "/syscall");
  long call = -1;
  std::array<std::uint64_t, 4> arguments{};
  file >> call >> std::hex;
  for (std::uint64_t& each : arguments) {
    std::string word;
    file >> word;
    each = std::strtoull(word.c_str(), nullptr, 16);
  }
  const auto [address, what, value, limit] = arguments;
  const std::uint64_t operation = what & FUTEX_CMD_MASK;
  if (!file || call != SYS_futex || limit != 0 ||
      (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)) {
    return false;
  }
  // The end of a thread, which is waited for by its number, is told by the kernel.
  return (what & FUTEX_PRIVATE_FLAG) != 0 ||
         std::find(threads.begin(), threads.end(), std::to_string(value)) != threads.end();
}

/// A signal that the program has asked for may wake one.
bool has_timers() {
  itimerval set{};
  return ::getitimer(ITIMER_REAL, &set) != 0 || set.it_value.tv_sec != 0 ||
         set.it_value.tv_usec != 0 ||
         std::ifstream("/proc/self/timers").peek() != std::ifstream::traits_type::eof();
}

}  // namespace

void name_own_thread() noexcept { ::prctl(PR_SET_NAME, own_name); }

int threads_that_may_act() noexcept try {
  const std::string main = name_of(std::to_string(::getpid()));
  std::vector<std::string> threads;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    threads.push_back(each.path().filename().string());
  }
  int count = 0;
  int asleep = 0;
  for (const std::string& each : threads) {
    const std::string name = name_of(each);
    const bool is_own = name != main && (name == own_name || name == "async");  // UCX's
    const bool sleeps = !is_own && threads.size() > 1 && sleeps_until_woken(each, threads);
    asleep += sleeps ? 1 : 0;
    count += is_own || sleeps ? 0 : 1;
  }
  return asleep != 0 && has_timers() ? -1 : count;
} catch (const std::exception&) {
  return -1;
}

}  // namespace sinew::base
