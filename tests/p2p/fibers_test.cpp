// SPDX-License-Identifier: BSD-3-Clause
// Fibers that send and receive: both ranks of a job on the one thread of this process.
#include <cstring>
#include <vector>

#include "sinew/fiber/scheduler.hpp"
#include "support/job.hpp"

namespace sinew::p2p {
namespace {

struct rank_in_fibers {
  rank_in_fibers(int rank, std::unique_ptr<fabric::endpoint> endpoint)
      : runtime(core::runtime::over(std::make_unique<test::fake_session>(rank, 2),
                                    std::move(endpoint), core::threading::one)),
        engine(*runtime),
        world(0, core::group::range(2), comm_rank{rank}) {
    engine.attach(world);
  }
  std::unique_ptr<core::runtime> runtime;
  p2p::engine engine;
  core::communicator world;
};

struct talker {
  rank_in_fibers* own;
  int tag;  // and its number
  int trips;
};

constexpr std::size_t message_sizes[] = {0, 8, 64, 4000, 20000, 100000};

// Each trip has a size, a mode and a way to receive of its own. Every message carries its tag.
void talk(void* at) {
  const talker& t = *static_cast<talker*>(at);
  auto& e = t.own->engine;
  auto& c = t.own->world;
  const int rank = c.rank().value();
  const comm_rank other{1 - rank};
  const message_tag tag{t.tag};
  std::vector<std::byte> data(message_sizes[5]);
  for (int i = 0; i < t.trips; ++i) {
    const std::size_t n = message_sizes[static_cast<std::size_t>(t.tag + i) % 6];
    const auto mark = static_cast<std::byte>(t.tag * 7 + i);
    const mode how = (t.tag + i) % 4 == 0 ? mode::synchronous : mode::standard;
    if (i % 2 == rank) {
      std::memset(data.data(), static_cast<int>(mark), n);
      e.send(c, messages_of(c), buffer::of_bytes(data.data(), n), other, tag, how);
      continue;
    }
    std::memset(data.data(), 0x55, n);
    result got;
    if (t.tag % 5 == 0) {
      got = e.probe(c, messages_of(c), any_source, tag);
      EXPECT_EQ(got.bytes, n);
    } else if (t.tag % 5 == 1) {
      while (!e.iprobe(c, messages_of(c), other, tag)) {
      }
    }
    got = e.recv(c, messages_of(c), buffer::of_bytes(data.data(), n), any_source, tag);
    EXPECT_EQ(got.source, other);
    EXPECT_EQ(got.bytes, n);
    if (n != 0) {
      EXPECT_EQ(data[0], mark);
      EXPECT_EQ(data[n - 1], mark);
    }
  }
}

TEST(p2p_fibers, many_talk_in_every_way) {
  constexpr int tags = 300;
  test::endpoints made(2, test::backend::shm, false);
  rank_in_fibers a(0, made.take(0));
  rank_in_fibers b(1, made.take(1));
  const fiber::scheduler all({.workers = 1});
  std::vector<talker> talkers;
  talkers.reserve(2 * tags);
  std::vector<fiber::fiber*> running;
  for (int tag = 0; tag < tags; ++tag) {
    for (rank_in_fibers* r : {&a, &b}) {
      talkers.push_back({r, tag, 12});
      fiber::fiber* f = nullptr;
      ASSERT_TRUE(fiber::spawn(talk, &talkers.back(), &f).done());
      running.push_back(f);
    }
  }
  for (fiber::fiber* f : running) {
    fiber::join(*f);
  }
  a.engine.drain();
  b.engine.drain();
}

}  // namespace
}  // namespace sinew::p2p
