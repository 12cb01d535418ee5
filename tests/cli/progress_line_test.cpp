// SPDX-License-Identifier: BSD-3-Clause
// What is shown of long work, on a terminal alone.
#include "sinew/progress_line.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <string>

namespace sinew::tool {
namespace {

/// Standard error is `number` while this lives.
class standard_error_at {
 public:
  explicit standard_error_at(int number) : before_(::dup(STDERR_FILENO)) {
    ::dup2(number, STDERR_FILENO);
  }
  standard_error_at(const standard_error_at&) = delete;
  standard_error_at& operator=(const standard_error_at&) = delete;
  ~standard_error_at() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

/// What has been written; waits for the first of it.
std::string written(int terminal, int wait_ms) {
  pollfd asked{terminal, POLLIN, 0};
  char bytes[4096];
  const bool any = ::poll(&asked, 1, wait_ms) == 1;
  const ssize_t got = any ? ::read(terminal, bytes, sizeof bytes) : 0;
  return {bytes, static_cast<std::size_t>(got > 0 ? got : 0)};
}

TEST(progress_line, appears_after_a_second_and_disappears) {
  int terminal = -1;
  int theirs = -1;
  ASSERT_EQ(::openpty(&terminal, &theirs, nullptr, nullptr, nullptr), 0);
  std::string shown;
  {
    const standard_error_at here(theirs);
    const progress_line line("planning");
    shown = written(terminal, 60'000);
  }
  EXPECT_EQ(shown.find("\r\033[Kplanning, 1 s"), 0U) << shown;
  shown = written(terminal, 0);
  EXPECT_TRUE(shown.ends_with("\r\033[K")) << shown;
  {
    const standard_error_at here(theirs);
    const progress_line quick("planning");
  }
  EXPECT_EQ(written(terminal, 0), "");
  ::close(theirs);
  ::close(terminal);
}

}  // namespace
}  // namespace sinew::tool
