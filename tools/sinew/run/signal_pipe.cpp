// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/signal_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "sinew/run/pipe.hpp"

namespace sinew::tool {
namespace {

static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
std::array<std::atomic<bool>, NSIG> arrived{};
std::atomic<int> pipe_end{-1};

// The flag comes first, the byte second; take() reads the bytes first, the flags second. So a flag
// that take() misses has its byte still in the pipe. A full pipe is as good as one more byte.
void on_signal(int signal) {
  const int saved = errno;
  arrived[static_cast<std::size_t>(signal)].store(true);
  const char byte = 0;
  (void)!::write(pipe_end.load(), &byte, 1);
  errno = saved;
}

}  // namespace

signal_pipe::signal_pipe(std::span<const int> signals) {
  auto [input, output] = make_pipe("the launcher cannot read its signals");
  for (const int each : {input.get(), output.get()}) {
    ::fcntl(each, F_SETFL, O_NONBLOCK);
  }
  input_ = std::move(input);
  output_ = std::move(output);
  pipe_end = output_.get();
  ::sigemptyset(&set_);
  struct sigaction mine{};
  mine.sa_handler = on_signal;
  mine.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  ::sigemptyset(&mine.sa_mask);
  for (const int each : signals) {
    struct sigaction now{};
    if (::sigaction(each, nullptr, &now) == 0 && now.sa_handler != SIG_IGN &&
        ::sigaction(each, &mine, nullptr) == 0) {
      ::sigaddset(&set_, each);
    }
  }
  ::sigprocmask(SIG_UNBLOCK, &set_, &before_);
}

signal_pipe::~signal_pipe() {
  ::sigprocmask(SIG_BLOCK, &set_, nullptr);
  pipe_end = -1;
}

std::vector<int> signal_pipe::take() {
  std::array<char, 256> bytes;
  while (::read(input_.get(), bytes.data(), bytes.size()) > 0) {
  }
  std::vector<int> result;
  for (std::size_t signal = 1; signal < arrived.size(); ++signal) {
    if (arrived[signal].exchange(false)) {
      result.push_back(static_cast<int>(signal));
    }
  }
  return result;
}

}  // namespace sinew::tool
