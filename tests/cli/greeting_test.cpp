// SPDX-License-Identifier: BSD-3-Clause
// How a launcher and a daemon prove to each other who they are.
#include "sinew/run/greeting.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "sinew/base/clock.hpp"
#include "sinew/boot/descriptor.hpp"

namespace sinew::tool {
namespace {

TEST(greeting, proofs_need_the_secret_the_challenge_and_all_that_is_claimed) {
  const secret_bytes secret = random_secret();
  const secret_bytes challenge = random_secret();
  daemon_claim claim;
  claim.challenge = random_secret();
  claim.node = 2;
  claim.ends.launcher.port = 4711;
  const daemon_proof good = prove_daemon(secret, challenge, claim);
  EXPECT_TRUE(is_daemon(secret, challenge, good));
  EXPECT_FALSE(is_daemon(random_secret(), challenge, good));
  EXPECT_FALSE(is_daemon(secret, random_secret(), good));  // a replay
  std::array<char, sizeof good> bytes;
  for (std::size_t i = 0; i < sizeof good; ++i) {
    std::memcpy(bytes.data(), &good, sizeof good);
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    daemon_proof changed;
    std::memcpy(&changed, bytes.data(), sizeof changed);
    EXPECT_FALSE(is_daemon(secret, challenge, changed)) << i;
  }
  EXPECT_FALSE(is_same(prove_launcher(secret, challenge, claim), good.proof));
  const connection_keys keys = keys_of(secret, challenge, claim);
  EXPECT_FALSE(is_same(keys.to_daemon, keys.to_launcher));
  EXPECT_FALSE(is_same(keys.to_daemon, keys_of(secret, random_secret(), claim).to_daemon));
  EXPECT_FALSE(is_same(keys.to_daemon, good.proof));
}

TEST(greeting, ends_are_told_by_their_addresses_and_ports) {
  socket_end four;
  four.address[10] = four.address[11] = 0xff;
  four.address[12] = 10;
  four.address[15] = 1;
  four.port = 4711;
  EXPECT_EQ(text(four), "10.0.0.1 port 4711");
  socket_end six;
  six.address[0] = 0xfd;
  six.address[15] = 1;
  EXPECT_EQ(text(six), "fd00::1 port 0");
}

/// A launcher that sends a byte now and then until nobody listens any more.
class slow_launcher {
 public:
  slow_launcher() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    port_ = near_end(listener_.get())->port;
    thread_ = std::thread([this] { serve(); });
  }
  ~slow_launcher() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  [[nodiscard]] int port() const { return port_; }

 private:
  void serve() const {
    while (true) {
      const boot::descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket) {
        return;
      }
      while (::send(socket.get(), "x", 1, MSG_NOSIGNAL) == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
      }
    }
  }

  boot::descriptor listener_;
  int port_ = 0;
  std::thread thread_;
};

TEST(greeting, a_launcher_that_speaks_slowly_is_given_up_after_a_second) {
  const slow_launcher launcher;
  const std::int64_t began = now_ns();
  EXPECT_FALSE(call_launcher({"", random_secret(), 0, launcher.port(), {"127.0.0.1"}}));
  EXPECT_LT(now_ns() - began, 3 * second_ns);  // 32 bytes would take more than 6
}

}  // namespace
}  // namespace sinew::tool
