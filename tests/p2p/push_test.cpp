// Which messages go in pieces before their receive is known.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "support/job.hpp"

namespace sinew::p2p {
namespace {

using core::threading;
using test::backend;
using test::member;

std::atomic<int> waiting_at_the_sender{0};

void note(const incident& what) noexcept {
  if (!what.arrived && what.rendezvous && what.bytes != 0) {
    waiting_at_the_sender.fetch_add(1);
  }
}

/// How many of two long messages wait at their sender.
int waiting_messages(const std::vector<int>& node_of) {
  constexpr std::size_t bytes = 64 << 10;
  waiting_at_the_sender = 0;
  test::run_job(
      2, backend::shm, threading::one,
      [](member& m) {
        std::vector<std::byte> data(bytes, std::byte{m.rank == 0});
        const auto all = buffer::of_bytes(data.data(), data.size());
        for (int i = 0; i < 2; ++i) {
          if (m.rank == 0) {
            m.engine.observe(note);
            m.engine.send(m.comm, m.messages(), all, comm_rank{1}, 1);
          } else {
            m.engine.recv(m.comm, m.messages(), all, comm_rank{0}, 1);
            EXPECT_EQ(data.back(), std::byte{1});
          }
        }
      },
      node_of);
  return waiting_at_the_sender;
}

// Shared memory streams at first, whichever node the ranks are said to be on.
TEST(push, long_messages_to_other_nodes_wait_for_their_receive) {
  EXPECT_LT(waiting_messages({0, 0}), 2);
  EXPECT_EQ(waiting_messages({0, 1}), 2);
}

}  // namespace
}  // namespace sinew::p2p
