// SPDX-License-Identifier: BSD-3-Clause
// The rank's end of a conversation, into which the launcher's questions may fall at any time.
#include "boot/pmi_channel.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>

namespace sinew::boot {
namespace {

class conversation : public testing::Test {
 protected:
  conversation() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    channel_ = std::make_unique<pmi_channel>(descriptor(ends[0]));
    launcher_ = descriptor(ends[1]);
  }
  void say(const std::string& lines) {
    ASSERT_EQ(::send(launcher_.get(), lines.data(), lines.size(), 0),
              static_cast<ssize_t>(lines.size()));
  }

  std::unique_ptr<pmi_channel> channel_;
  descriptor launcher_;
};

TEST_F(conversation, a_question_is_no_answer) {
  say("cmd=sinew_waits_asked turn=3\ncmd=get_result rc=0 value=x\n");
  EXPECT_EQ(channel_->get("space", "key"), "x");
  EXPECT_EQ(channel_->take_question(), 3);
  EXPECT_EQ(channel_->take_question(), 0);
}

TEST_F(conversation, the_newest_question_counts_and_other_lines_stay) {
  say("cmd=sinew_waits_asked turn=3\ncmd=sinew_all_left\ncmd=sinew_waits_asked turn=4\n");
  EXPECT_EQ(channel_->take_question(), 4);
  const auto other = channel_->heard();
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->command(), "sinew_all_left");
  EXPECT_FALSE(channel_->heard().has_value());
}

TEST_F(conversation, a_launcher_that_has_gone_asks_nothing) {
  launcher_ = descriptor();
  EXPECT_EQ(channel_->take_question(), 0);
}

}  // namespace
}  // namespace sinew::boot
