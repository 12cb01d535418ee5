// SPDX-License-Identifier: BSD-3-Clause
// What a peer has written is never believed where that would lead outside the shared memory: the
// process says who has written nonsense, and ends.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fabric/shm/layout.hpp"
#include "gtest/gtest.h"
#include "sinew/fabric/fabric.hpp"
#include "support/shared_memory.hpp"

namespace sinew::fabric::shm {
namespace {

constexpr unsigned shift_of_size = 32;
constexpr unsigned shift_of_kind = 50;

/// Rank 0 has sent; rank 1 has not looked yet. The test is rank 0's stray stores.
class corrupt_peers : public ::testing::TestWithParam<bool> {
 protected:
  corrupt_peers()
      : shape_(2), per_rank_(shm_bytes_per_rank(2)), memory_(2 * per_rank_), threads_(GetParam()) {
    for (int r = 0; r < 2; ++r) {
      ranks_[r] =
          open_shm({memory_.base(), per_rank_, job_rank{r}, local_rank{r}, {0, 1}}, threads_);
      ranks_[r]->set_handler(
          1, [](void*, const arrival&) noexcept { return status::ok(); }, nullptr);
    }
    meet();
  }
  void meet() {
    for (int r = 0; r < 2; ++r) {
      ASSERT_TRUE(ranks_[r]->send_short(job_rank{1 - r}, 1, {}, nullptr, 0).done());
      ASSERT_EQ(ranks_[1 - r]->progress(10), 1);
    }
  }
  [[nodiscard]] part of(int rank) {
    return {memory_.base() + static_cast<std::size_t>(rank) * per_rank_, &shape_};
  }
  /// The slot that rank 1 handles next.
  [[nodiscard]] slot& next_slot() { return of(1).ring_from(0)[handled_]; }
  /// Rank 1 gets as much from rank 0, to the end.
  void get(std::size_t bytes) {
    std::vector<std::byte> source(bytes), target(bytes);
    const remote_address from{reinterpret_cast<std::uintptr_t>(source.data()),
                              ranks_[0]->expose(source.data(), source.size())};
    bool done = false;
    const callback fire{[](void* d) noexcept { *static_cast<bool*>(d) = true; }, &done};
    ASSERT_TRUE(ranks_[1]->get(0, target.data(), from, bytes, fire).posted());
    while (!done) {
      (void)ranks_[0]->progress(1);
      (void)ranks_[1]->progress(1);
    }
    ++handled_;  // one answer brings so few bytes
  }
  void send(std::size_t bytes) {
    const std::byte data[200]{};
    ASSERT_TRUE(ranks_[0]->send_medium(1, 1, {}, data, bytes).done());
  }
  /// The next slot says this, as if rank 0 had sent it.
  void say(slot_kind kind, std::uint8_t id, std::size_t size, header head, std::uint32_t index) {
    send(8);
    slot& s = next_slot();
    s.head = head;
    std::memcpy(s.payload, &index, sizeof index);
    s.word.store(slot_word::make(slot_word::tag(s.word.load()), kind, id, size, 0));
  }
  void expect_end(const std::string& said) {
    EXPECT_EXIT(
        {
          ranks_[1]->progress(10);
          std::_Exit(7);
        },
        ::testing::ExitedWithCode(1), "what rank 0 has written into shared memory.*" + said);
  }

  part_layout shape_;
  std::size_t per_rank_;
  test::shared_memory memory_;
  bool threads_;
  std::size_t handled_ = 1;
  std::unique_ptr<endpoint> ranks_[2];
};

TEST_P(corrupt_peers, a_size_beyond_the_line) {
  say(slot_kind::short_message, 1, max_short_bytes + 1, {}, 0);
  expect_end("a kind or a size");
}

TEST_P(corrupt_peers, a_size_beyond_the_line_within) {
  say(slot_kind::inner_short, 1, 0x3fff, {}, 0);
  expect_end("a kind or a size");
}

TEST_P(corrupt_peers, a_size_beyond_the_packet) {
  send(200);
  next_slot().word.fetch_or(std::uint64_t{0x3fff} << shift_of_size);
  expect_end("a kind or a size");
}

TEST_P(corrupt_peers, a_kind_that_is_none) {
  send(8);
  next_slot().word.fetch_or(std::uint64_t{7} << shift_of_kind);
  expect_end("a kind or a size");
}

TEST_P(corrupt_peers, a_packet_that_is_none) {
  say(slot_kind::medium, 1, 100, {}, shape_.packets);
  expect_end("a packet that it does not have");
}

TEST_P(corrupt_peers, a_packet_far_away) {
  say(slot_kind::inner_medium, 2, 8192, {}, 0xffffffff);
  expect_end("a packet that it does not have");
}

TEST_P(corrupt_peers, an_operation_that_is_none) {
  say(slot_kind::inner_short, 9, 0, {}, 0);
  expect_end("no known kind");
}

TEST_P(corrupt_peers, a_get_with_a_ticket_that_is_none) {
  say(slot_kind::inner_short, 0, 16, {{tickets_per_rank, 4096}}, 0);
  expect_end("a get that none of its tickets can be");
}

TEST_P(corrupt_peers, an_answer_to_no_get) {
  say(slot_kind::inner_medium, 1, 64, {{200, 0}}, 0);
  expect_end("answers a get");
}

TEST_P(corrupt_peers, an_answer_beyond_its_get) {
  say(slot_kind::inner_medium, 1, 64, {{0, 1 << 20}}, 0);
  expect_end("not what was asked");
}

TEST_P(corrupt_peers, an_answer_to_a_get_that_has_ended) {
  get(64);
  say(slot_kind::inner_medium, 1, 8, {{std::uint64_t{1} << 32, 0}}, 0);
  expect_end("not what was asked");
}

TEST_P(corrupt_peers, an_atomic_operation_that_is_none) {
  say(slot_kind::inner_short, 3, 16, {{99 | (8 << 8), 4096}}, 0);
  expect_end("an atomic operation that there is not");
}

TEST_P(corrupt_peers, an_answer_to_no_atomic_operation) {
  say(slot_kind::inner_short, 4, 0, {{1000, 0}}, 0);
  expect_end("nobody has asked for");
}

TEST_P(corrupt_peers, an_address_outside_the_node) {
  const remote_address far{1, {{2, 8}}};  // key_node: said to be in the mapping
  std::uint64_t word = 0;
  EXPECT_EXIT(
      {
        (void)ranks_[1]->get(0, &word, far, sizeof word, {});
        std::_Exit(7);
      },
      ::testing::ExitedWithCode(1), "an address said to be in the node's memory");
}

INSTANTIATE_TEST_SUITE_P(all, corrupt_peers, ::testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "threads" : "one_thread");
});

}  // namespace
}  // namespace sinew::fabric::shm
