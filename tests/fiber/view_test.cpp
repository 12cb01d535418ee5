// SPDX-License-Identifier: BSD-3-Clause
// The live view, by call and by SIGQUIT from another process.
#include "sinew/fiber/view.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>

#include "sinew/fiber/condition_variable.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/mutex.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/fibers.hpp"

namespace sinew::fiber {
namespace {

/// Sends it, and waits until that is done.
void quit_from_elsewhere() {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();  // system() would keep the signal away meanwhile
  if (child == 0) {
    ::_exit(::kill(parent, SIGQUIT) == 0 ? 0 : 1);
  }
  int status = 0;
  pid_t ended = -1;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  ASSERT_EQ(ended, child);
  ASSERT_EQ(status, 0);
}

long count_of(const std::string& text, const std::string& word) {
  long found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

TEST(view, says_who_waits_for_what) {
  scheduler s({.workers = 2});
  mutex held;
  held.lock();
  test::crew crew;
  crew.add([&] { held.lock(), held.unlock(); }, {.name = "first"});
  crew.add([&] { held.lock(), held.unlock(); }, {.name = "second", .worker = 1});
  crew.add([] { sleep_for(200'000'000); }, {.name = "sleeper"});
  sleep_for(20'000'000);
  testing::internal::CaptureStderr();
  show_fibers();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("4 fibers on 2 workers"), std::string::npos) << said;
  EXPECT_NE(said.find("2 mutex"), std::string::npos) << said;
  EXPECT_NE(said.find("\"first\": mutex"), std::string::npos) << said;
  EXPECT_NE(said.find("\"second\": mutex"), std::string::npos) << said;
  EXPECT_NE(said.find("\"sleeper\": sleep"), std::string::npos) << said;
  EXPECT_NE(said.find("\"main\": running (thread "), std::string::npos) << said;
  held.unlock();
}

TEST(view, has_an_end) {
  scheduler s({.workers = 1});
  std::atomic<bool> over{false};
  test::crew crew;
  for (int i = 0; i < 1200; ++i) {
    crew.add([&] {
      while (!over.load()) {
        yield();
      }
    });
  }
  yield();
  testing::internal::CaptureStderr();
  show_fibers();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("  and 201 more.\n"), std::string::npos) << said.substr(0, 300);
  EXPECT_EQ(count_of(said, "\n"), 1002);
  over.store(true);
}

TEST(view, by_a_signal) {
  testing::internal::CaptureStderr();
  {
    scheduler s({.workers = 1});
    quit_from_elsewhere();
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("1 fibers on 1 workers: 1 running"), std::string::npos) << said;
  EXPECT_NE(said.find("again within 2 s ends the program"), std::string::npos) << said;
  struct sigaction now{};
  ASSERT_EQ(::sigaction(SIGQUIT, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, SIG_DFL) << "there is no scheduler any more";
}

TEST(view, leaves_a_handler_of_the_programs_alone) {
  static std::atomic<int> calls{0};
  ASSERT_NE(::signal(SIGQUIT, [](int) { calls.fetch_add(1); }), SIG_ERR);
  testing::internal::CaptureStderr();
  {
    scheduler s({.workers = 1});
    quit_from_elsewhere();
    for (int i = 0; i < 1000 && calls.load() == 0; ++i) {
      ::usleep(1000);  // ThreadSanitizer hands signals on in calls that wait
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(calls.load(), 1);
  ::signal(SIGQUIT, SIG_DFL);
}

/// In a child without gtest's threads: `act` must end it.
int signal_that_ends(void (*act)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)::freopen("/dev/null", "w", stderr);
    const scheduler s({.workers = 1});
    act();
    for (int i = 0; i < 1000; ++i) {
      ::usleep(1000);
    }
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(view, the_default_action_where_it_is_meant) {
#if defined(SINEW_TSAN)
  GTEST_SKIP() << "ThreadSanitizer hands signals to handlers later, and its own is the kernel's";
#endif
  EXPECT_EQ(signal_that_ends([] { (void)::raise(SIGQUIT); }), SIGQUIT);
  EXPECT_EQ(signal_that_ends([] {
              quit_from_elsewhere();
              ::usleep(1000);
              quit_from_elsewhere();
            }),
            SIGQUIT);
}

}  // namespace
}  // namespace sinew::fiber
