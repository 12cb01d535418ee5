// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/log.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "sinew/base/settings.hpp"

namespace sinew {
namespace {

class log_test : public ::testing::Test {
 protected:
  void TearDown() override { settings::find("SINEW_BASE_LOG")->parse("warn"); }

  template <class Action>
  static std::string stderr_of(Action action) {
    ::testing::internal::CaptureStderr();
    action();
    return ::testing::internal::GetCapturedStderr();
  }
};

TEST_F(log_test, LevelsFollowTheSetting) {
  EXPECT_TRUE(log_enabled(log_level::warn));
  EXPECT_FALSE(log_enabled(log_level::info));
  settings::find("SINEW_BASE_LOG")->parse("debug");
  EXPECT_TRUE(log_enabled(log_level::debug));
  settings::find("SINEW_BASE_LOG")->parse("error");
  EXPECT_FALSE(log_enabled(log_level::warn));
  EXPECT_TRUE(log_enabled(log_level::error));
}

TEST_F(log_test, TextIsBuiltOnlyIfShown) {
  int built = 0;
  const auto text = [&built] {
    ++built;
    return std::string("text");
  };
  const std::string out = stderr_of([&] {
    SINEW_LOG(debug, text());
    SINEW_LOG(warn, text());
  });
  EXPECT_EQ(built, 1);
  EXPECT_NE(out.find("warn: text.\n"), std::string::npos) << out;
}

TEST_F(log_test, IdentityNamesRankAndHost) {
  set_log_identity(3, 8);
  errno = 77;
  const std::string out = stderr_of([] { log_line(log_level::error, "lost"); });
  EXPECT_EQ(errno, 77);
  EXPECT_EQ(out.find("sinew[rank 3 of 8, "), 0U) << out;
  EXPECT_NE(out.find("]: error: lost.\n"), std::string::npos) << out;
}

TEST_F(log_test, LinesOfManyThreadsStayWhole) {
  const std::string out = stderr_of([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 100; ++i) {
          log_line(log_level::warn, "0123456789012345678901234567890123456789");
        }
      });
    }
    for (std::thread& one : threads) {
      one.join();
    }
  });
  std::size_t at = 0;
  int lines = 0;
  while (at < out.size()) {
    const std::size_t end = out.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(out.compare(at, 5, "sinew"), 0);
    EXPECT_EQ(out.substr(end - 11, 11), "0123456789.");
    at = end + 1;
    ++lines;
  }
  EXPECT_EQ(lines, 400);
}

}  // namespace
}  // namespace sinew
