// SPDX-License-Identifier: BSD-3-Clause
// What an observer is told of messages: numbers at both ends, and when a stored one is met.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "support/job.hpp"

namespace sinew::p2p {
namespace {

using core::threading;
using test::backend;
using test::member;

constexpr int messages = 4;

/// By what has happened; ranks of a test's job share the process.
std::array<std::atomic<std::uint64_t>, 3> counts;
std::array<std::atomic<std::uint64_t>, 3> sums_of_numbers;

void note(const incident& what) noexcept {
  if (what.collective) {
    EXPECT_EQ(what.number, incident::no_number);
    return;
  }
  EXPECT_FALSE(what.met && (what.unexpected || !what.arrived));
  const std::size_t which = !what.arrived ? 0 : what.met ? 2 : 1;
  counts[which].fetch_add(1);
  sums_of_numbers[which].fetch_add(what.number);
}

/// Rank 0 sends, and rank 1 receives when all are there, or before.
void exchange(backend over, threading threads, bool stored) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = 0;
    sums_of_numbers[i] = 0;
  }
  std::atomic<int> observing{0};
  test::run_job(2, over, threads, [&](member& m) {
    m.engine.observe(note);
    ++observing;
    std::array<std::byte, 100> data{};
    const auto all = buffer::of_bytes(data.data(), data.size());
    while (observing < 2) {
      m.engine.runtime().poll();
    }
    for (int i = 0; i < messages; ++i) {
      if (m.rank == 0) {
        m.engine.send(m.comm, m.messages(), all, comm_rank{1}, 1);
      } else if (stored) {
        (void)m.engine.probe(m.comm, m.messages(), comm_rank{0}, 1);
        m.engine.recv(m.comm, m.messages(), all, comm_rank{0}, 1);
      } else {
        m.engine.recv(m.comm, m.messages(), all, comm_rank{0}, 1);
      }
    }
    if (m.rank == 1) {
      m.engine.observe(nullptr);
    }
  });
  EXPECT_EQ(counts[0], messages);
  EXPECT_EQ(counts[1], messages);
  EXPECT_EQ(sums_of_numbers[0], 0 + 1 + 2 + 3);
  EXPECT_EQ(sums_of_numbers[1], 0 + 1 + 2 + 3);
  if (stored) {
    EXPECT_EQ(counts[2], messages);
    EXPECT_EQ(sums_of_numbers[2], 0 + 1 + 2 + 3);
  }
}

TEST(observe, numbers_are_the_same_at_both_ends) {
  exchange(backend::shm, threading::one, false);
  exchange(backend::shm, threading::many, false);
  exchange(backend::inproc, threading::one, false);
}

TEST(observe, a_stored_message_is_told_of_once_more_when_it_is_met) {
  exchange(backend::shm, threading::one, true);
  exchange(backend::shm, threading::many, true);
}

}  // namespace
}  // namespace sinew::p2p
