// SPDX-License-Identifier: BSD-3-Clause
// A job in a child process, in which one allocation of one rank fails. Such a job ends in order, or
// with a sentence: never by a signal, never by the library's own words for an uncaught exception,
// and never not at all.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "sinew/core/uncaught.hpp"
#include "support/job.hpp"

namespace sinew::test {

/// What a child says by its exit code.
enum ended : int {
  in_order = 0,        ///< the failure was absorbed
  by_a_sentence = 3,   ///< fake_session::abort()
  by_an_error = 4,     ///< the program was told: end_with()
  without_failure = 5  ///< so many allocations there are not
};

/// A rank that was told of the failure, by an exception or a poisoned event, ends the job.
[[noreturn]] inline void end_with(const char* what) {
  std::fprintf(stderr, "told: %s\n", what);
  std::fflush(stderr);
  ::_exit(by_an_error);
}

struct child_end {
  int code = -1;
  int signal = 0;
  std::string told;
};

/// Runs job(), whose result is the exit code, in a child.
template <class Job>
child_end run_in_child(Job job) {
  int pipe_ends[2];
  child_end how;
  if (::pipe(pipe_ends) != 0) {
    return how;
  }
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe_ends[1], STDERR_FILENO);
    ::close(pipe_ends[0]);
    ::alarm(100);  // a hang ends
    // fake_session ends by abort(), which here is the launcher's part.
    std::signal(SIGABRT, [](int) { ::_exit(by_a_sentence); });
    static fake_session session(0, 1);
    core::report_uncaught(session);
    ::_exit(job());
  }
  ::close(pipe_ends[1]);
  char some[4096];
  for (ssize_t got = 0; (got = ::read(pipe_ends[0], some, sizeof some)) > 0;) {
    how.told.append(some, static_cast<std::size_t>(got));
  }
  ::close(pipe_ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  how.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  how.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return how;
}

/// job(n) runs a job whose n-th allocation fails. For every n until there are not so many.
template <class Job>
void with_each_allocation_failing(Job job) {
  const long step = slow_build ? 17 : 1;
  for (long n = 1; n < 100'000; n += step) {
    const child_end how = run_in_child([&] { return job(n); });
    const std::string which = "allocation " + std::to_string(n) + ": " + how.told;
    ASSERT_EQ(how.signal, 0) << which;
    const bool exhausted = how.told.find("memory is exhausted") != std::string::npos;
    ASSERT_TRUE(how.code == in_order || how.code == by_a_sentence || how.code == by_an_error ||
                how.code == without_failure || (how.code == 1 && exhausted))
        << "code " << how.code << ", " << which;
    ASSERT_EQ(how.told.find("terminate called"), std::string::npos) << which;
    if (how.code == by_a_sentence) {
      ASSERT_NE(how.told.find("no memory"), std::string::npos) << which;
    } else if (how.code == without_failure) {
      ASSERT_GT(n, 20) << "the script allocates nothing?";
      return;
    }
  }
}

}  // namespace sinew::test
