// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends: they end without a receiver, in their order, within what is attached.
#include "sinew/p2p/buffered.hpp"

#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "support/job.hpp"

namespace sinew::p2p {
namespace {

using core::threading;
using test::backend;
using test::member;
using outcome = buffered_sends::outcome;

constexpr message_tag data_tag = 3;
constexpr message_tag go_tag = 4;

class buffered : public ::testing::TestWithParam<backend> {
 protected:
  static void job(const std::function<void(member&)>& body, threading threads = threading::one) {
    test::run_job(2, GetParam(), threads, body);
  }
};

outcome send(member& m, buffered_sends& s, std::vector<std::int32_t>& words) {
  return s.send(m.comm, {words.data(), words.size(), &layout::of(layout::element::i32)}, 1,
                data_tag, 0);
}

void expect(member& m, std::size_t n, std::int32_t first) {
  std::vector<std::int32_t> words(n, -1);
  m.engine.recv(m.comm, m.messages(), buffer::of_bytes(words.data(), n * 4), 0, data_tag);
  EXPECT_EQ(words, std::vector<std::int32_t>(n, first));
}

void go(member& m) {
  if (m.rank == 0) {
    m.engine.send(m.comm, m.messages(), buffer::of_bytes(&m, 0), 1, go_tag);
  } else {
    m.engine.recv(m.comm, m.messages(), buffer::of_bytes(&m, 0), 0, go_tag);
  }
}

TEST_P(buffered, sends_end_without_a_receiver_and_arrive_in_their_order) {
  job([](member& m) {
    constexpr std::size_t n = 200000;  // too long to leave by itself
    if (m.rank == 1) {
      go(m);
      for (std::int32_t i = 0; i < 5; ++i) {
        expect(m, n, i);
      }
      return;
    }
    buffered_sends s(m.engine);
    ASSERT_TRUE(s.attach(std::nullopt));
    std::vector<std::int32_t> words(n);
    for (std::int32_t i = 0; i < 5; ++i) {
      std::fill(words.begin(), words.end(), i);
      EXPECT_EQ(send(m, s, words), outcome::sent);
    }
    std::fill(words.begin(), words.end(), 77);  // the copies have been sent
    EXPECT_EQ(s.sent(), 5U);
    EXPECT_FALSE(s.have_left(5));
    EXPECT_EQ(s.used(), 5 * n * 4);
    go(m);
    s.flush();
    EXPECT_TRUE(s.have_left(5));
    EXPECT_EQ(s.used(), 0U);
  });
}

TEST_P(buffered, no_more_is_under_way_than_is_attached) {
  job([](member& m) {
    constexpr std::size_t n = 100000;
    if (m.rank == 1) {
      go(m);
      expect(m, n, 1);
      go(m);
      expect(m, n, 2);
      return;
    }
    buffered_sends s(m.engine);
    std::vector<std::int32_t> words(n, 1);
    EXPECT_EQ(send(m, s, words), outcome::not_attached);
    ASSERT_TRUE(s.attach(n * 4));
    EXPECT_FALSE(s.attach(n * 8)) << "attached twice";
    EXPECT_EQ(send(m, s, words), outcome::sent);
    words.assign(n, 2);
    EXPECT_EQ(send(m, s, words), outcome::no_room);
    go(m);
    s.flush();
    EXPECT_EQ(send(m, s, words), outcome::sent);
    go(m);
    s.detach();
    EXPECT_FALSE(s.attached());
    EXPECT_EQ(send(m, s, words), outcome::not_attached);
    ASSERT_TRUE(s.attach(1));
    EXPECT_EQ(send(m, s, words), outcome::no_room);
    s.detach();
  });
}

TEST_P(buffered, threads_share_what_is_attached) {
  job(
      [](member& m) {
        constexpr std::int32_t each = 50;
        if (m.rank == 1) {
          std::vector<int> seen(4);
          for (std::int32_t i = 0; i < 4 * each; ++i) {
            std::int32_t word = -1;
            m.engine.recv(m.comm, m.messages(), buffer::of_bytes(&word, 4), 0, data_tag);
            EXPECT_EQ(word % each, seen[static_cast<std::size_t>(word / each)]++);
          }
          return;
        }
        buffered_sends s(m.engine);
        ASSERT_TRUE(s.attach(std::nullopt));
        std::vector<std::thread> all;
        for (std::int32_t t = 0; t < 4; ++t) {
          all.emplace_back([&, t] {
            for (std::int32_t i = 0; i < each; ++i) {
              std::vector<std::int32_t> word = {t * each + i};
              EXPECT_EQ(send(m, s, word), outcome::sent);
            }
          });
        }
        for (std::thread& t : all) {
          t.join();
        }
        s.detach();
      },
      threading::many);
}

INSTANTIATE_TEST_SUITE_P(all, buffered, ::testing::Values(backend::inproc, backend::shm),
                         [](const auto& named) { return test::name_of(named.param); });

}  // namespace
}  // namespace sinew::p2p
