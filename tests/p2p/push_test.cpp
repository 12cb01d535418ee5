// SPDX-License-Identifier: BSD-3-Clause
// Which messages go in pieces before their receive is known.
#include <gtest/gtest.h>

#include <algorithm>
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
int waiting_messages(const std::vector<int>& node_of, std::size_t bytes) {
  waiting_at_the_sender = 0;
  test::run_job(
      2, backend::shm, threading::one,
      [bytes](member& m) {
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
TEST(push, long_messages_wait_for_their_receive) {
  EXPECT_LT(waiting_messages({0, 0}, 64 << 10), 2);
  EXPECT_EQ(waiting_messages({0, 0}, 256 << 10), 2);
}

TEST(push, messages_to_other_nodes_wait_only_if_they_are_longer) {
  EXPECT_EQ(waiting_messages({0, 1}, 64 << 10), 0);
  EXPECT_EQ(waiting_messages({0, 1}, 256 << 10), 0);
  EXPECT_EQ(waiting_messages({0, 1}, (256 << 10) + 1), 2);
}

/// Elements of a type with gaps: `length` of every `length + gap`.
struct gapped {
  std::size_t length, gap;
  [[nodiscard]] layout::datatype_ref of(std::size_t elements) const {
    const auto stride = static_cast<std::ptrdiff_t>((length + gap) * sizeof(std::int32_t));
    return layout::vector(elements / length, length, stride, layout::of(layout::element::i32));
  }
  [[nodiscard]] std::size_t place(std::size_t i) const {
    return i / length * (length + gap) + i % length;
  }
};

// Pieces end in the midst of blocks, and elsewhere at the sender than at the receiver.
void gaps_on_both_sides(member& m, const gapped& sent, const gapped& received, std::size_t elements,
                        std::size_t wanted, bool posted_first) {
  std::vector<std::int32_t> data(sent.place(elements) + 1), into(received.place(wanted) + 1, -1);
  for (std::size_t i = 0; i < elements; ++i) {
    data[sent.place(i)] = static_cast<std::int32_t>(i);
  }
  const auto type = sent.of(elements), expected = received.of(wanted);
  char word = 0;
  const auto turn = buffer::of_bytes(&word, 1);
  if (m.rank == 0) {
    if (posted_first) {
      m.engine.recv(m.comm, m.messages(), turn, comm_rank{1}, 2);
    }
    m.engine.send(m.comm, m.messages(), {data.data(), 1, type.get()}, comm_rank{1}, 1);
    return;
  }
  if (posted_first) {
    m.engine.send(m.comm, m.messages(), turn, comm_rank{0}, 2);
  } else {
    while (!m.engine.iprobe(m.comm, m.messages(), comm_rank{0}, 1).has_value()) {
    }
  }
  const result got =
      m.engine.recv(m.comm, m.messages(), {into.data(), 1, expected.get()}, comm_rank{0}, 1);
  EXPECT_EQ(got.sent_bytes, elements * sizeof(std::int32_t));
  EXPECT_EQ(got.error, wanted < elements ? fault::truncated : fault::none);
  const std::size_t come = std::min(elements, wanted);
  std::vector<std::int32_t> should(into.size(), -1);
  for (std::size_t i = 0; i < come; ++i) {
    should[received.place(i)] = static_cast<std::int32_t>(i);
  }
  EXPECT_EQ(into, should);
}

TEST(push, data_with_gaps_are_packed_and_unpacked_by_pieces) {
  for (const backend over : {backend::inproc, backend::shm}) {
    test::run_job(2, over, threading::one, [](member& m) {
      for (const std::size_t elements : {2100u, 12600u, 126000u, 378000u}) {
        for (const bool posted_first : {true, false}) {
          gaps_on_both_sides(m, {3, 2}, {7, 1}, elements, elements, posted_first);
          gaps_on_both_sides(m, {1, 1}, {5, 0}, elements, elements, posted_first);
          gaps_on_both_sides(m, {5, 0}, {2, 1}, elements, elements + 2100, posted_first);
          gaps_on_both_sides(m, {2, 3}, {3, 1}, elements, elements / 2, posted_first);
        }
      }
    });
  }
}

}  // namespace
}  // namespace sinew::p2p
