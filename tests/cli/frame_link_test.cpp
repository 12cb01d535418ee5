// SPDX-License-Identifier: BSD-3-Clause
// What somebody on the way can do to a connection between a launcher and a daemon.
#include "sinew/run/frame_link.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/run/event_loop.hpp"
#include "sinew/run/greeting.hpp"
#include "sinew/run/host_tree.hpp"

namespace sinew::tool {
namespace {

/// A launcher's link and a daemon's, and between them somebody who has both sockets.
class relayed : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto keys = keys_of(random_secret(), random_secret(), {});
    launcher_ = link(keys, frame_link::side::launcher, 0);
    daemon_ = link(keys, frame_link::side::daemon, 1);
  }

  std::unique_ptr<frame_link> link(const connection_keys& keys, frame_link::side side, int which) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    relay_[static_cast<std::size_t>(which)] = boot::descriptor(ends[1]);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    return std::make_unique<frame_link>(
        loop_, daemon_line{boot::descriptor(ends[0]), {}, keys}, side,
        frame_link::events{[this](const frame& got) { heard_.push_back(got.bytes); },
                           [this](const link_loss& how) { lost_ = how; }});
  }

  /// What the launcher has sent since.
  std::string intercept() {
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(relay_[0].get(), bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }

  void pass_on(std::string_view bytes) {
    EXPECT_EQ(::write(relay_[1].get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
    loop_.run_once(1000);
  }

  event_loop loop_;
  std::array<boot::descriptor, 2> relay_;
  std::vector<std::string> heard_;
  std::optional<link_loss> lost_;
  std::unique_ptr<frame_link> launcher_;
  std::unique_ptr<frame_link> daemon_;
};

TEST_F(relayed, sees_nothing_of_what_is_said) {
  launcher_->send(frame_kind::set_up, 0, "PASSWORD=open sesame");
  const std::string seen = intercept();
  EXPECT_EQ(seen.find("PASSWORD"), std::string::npos);
  pass_on(seen);
  EXPECT_EQ(heard_, std::vector<std::string>{"PASSWORD=open sesame"});
  EXPECT_FALSE(lost_);
}

TEST_F(relayed, an_altered_frame_ends_the_connection_with_a_sentence) {
  launcher_->send(frame_kind::set_up, 0, "/bin/echo");
  std::string seen = intercept();
  seen[seen.size() - 3] = static_cast<char>(seen[seen.size() - 3] ^ 4);
  pass_on(seen);
  EXPECT_TRUE(heard_.empty());
  ASSERT_TRUE(lost_);
  EXPECT_FALSE(lost_->by_other_side);
  EXPECT_NE(lost_->why.find("altered, repeated, left out or moved"), std::string::npos);
  EXPECT_NE(daemon_is_lost("h1", *lost_).find("connection with the host h1 is given up"),
            std::string::npos);
  EXPECT_FALSE(daemon_->open());
}

TEST_F(relayed, a_repeated_frame_ends_the_connection) {
  launcher_->send(frame_kind::beat);
  pass_on(intercept());
  launcher_->send(frame_kind::input, 0, "rm it");
  const std::string seen = intercept();
  pass_on(seen);
  pass_on(seen);
  EXPECT_EQ(heard_, (std::vector<std::string>{"", "rm it"}));
  EXPECT_FALSE(daemon_->open());
}

TEST_F(relayed, a_frame_that_is_left_out_ends_the_connection) {
  launcher_->send(frame_kind::beat);
  pass_on(intercept());
  launcher_->send(frame_kind::signal, 0, "9");
  (void)intercept();
  launcher_->send(frame_kind::beat);
  pass_on(intercept());
  EXPECT_EQ(heard_, std::vector<std::string>{""});
  EXPECT_FALSE(daemon_->open());
}

TEST_F(relayed, bytes_of_others_are_no_sign_of_life) {
  const std::int64_t before = daemon_->heard_ns();
  pass_on("x");
  EXPECT_EQ(daemon_->heard_ns(), before);
  EXPECT_TRUE(daemon_->open());
}

}  // namespace
}  // namespace sinew::tool
