// SPDX-License-Identifier: BSD-3-Clause
// Processes that any thread has started.
#include "sinew/run/process_tree.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

namespace sinew::tool {
namespace {

TEST(process_tree, has_what_other_threads_have_started) {
  pid_t child = -1;
  bool found = false;
  bool cut = false;
  std::thread other([&] {
    child = ::fork();
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
    const auto all = process_tree(::getpid());
    found = std::find(all.begin(), all.end(), child) != all.end();
    cut = process_tree(::getpid(), 1).size() == 1;
  });
  other.join();
  EXPECT_TRUE(found);
  EXPECT_TRUE(cut);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace sinew::tool
