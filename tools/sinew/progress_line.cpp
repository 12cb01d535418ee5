// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/progress_line.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace sinew::tool {

progress_line::progress_line(std::string what) : what_(std::move(what)) {
  if (::isatty(STDERR_FILENO) == 1) {
    thread_ = std::thread([this] { show(); });
  }
}

progress_line::~progress_line() {
  if (thread_.joinable()) {
    {
      const std::lock_guard held(mutex_);
      is_over_ = true;
    }
    over_.notify_one();
    thread_.join();
  }
}

void progress_line::show() {
  std::unique_lock held(mutex_);
  int seconds = 0;
  while (!over_.wait_for(held, std::chrono::seconds(1), [this] { return is_over_; })) {
    std::fprintf(stderr, "\r\033[K%s, %d s", what_.c_str(), ++seconds);
  }
  if (seconds > 0) {
    std::fputs("\r\033[K", stderr);
  }
}

}  // namespace sinew::tool
