// SPDX-License-Identifier: BSD-3-Clause
// The courier: what goes onto the wire comes off it, and what no rank can have sent is an error.
#include "event/courier.hpp"

#include <array>
#include <vector>

#include "gtest/gtest.h"
#include "shuffled_fabric.hpp"
#include "sinew/base/error.hpp"
#include "support/ids.hpp"

namespace sinew::event {
namespace {

using kind = event_message::kind;

message made(kind what, bool poisoned, std::uint32_t number, event e, int source = 1) {
  return {job_rank{source}, wire::small_of(what, poisoned, number), e.bits(), nullptr, 0};
}

TEST(wire, reads_what_it_writes) {
  const event mine(0, 4, 9);
  const event theirs(1, 5, 10);
  for (const kind what : {kind::subscribe, kind::trigger, kind::cancel}) {
    for (const bool bad : {false, true}) {
      const event_message m = wire::read(made(what, bad, 0, mine), 0, 2);
      EXPECT_EQ(m.what, what);
      EXPECT_EQ(m.poisoned, bad);
      EXPECT_EQ(m.about, mine);
      EXPECT_EQ(m.source, 1);
    }
  }
  const event_message settled = wire::read(
      made(kind::settled, true, event::last_generation - 1, event(1, 5, event::last_generation)), 0,
      2);
  EXPECT_EQ(settled.how.from, event::last_generation - 1);
  EXPECT_EQ(settled.how.to, event::last_generation);
  EXPECT_TRUE(settled.how.poisoned);
  EXPECT_EQ(wire::read(made(kind::lost, false, 1, {}), 0, 2).rank, 1);

  std::array<std::byte, 17> bytes{};  // not aligned
  const std::uint64_t words[2] = {theirs.bits(), event(1, 6, 11).bits()};
  std::memcpy(bytes.data() + 1, words, sizeof words);
  const event_message batch = wire::read(
      {1, wire::small_of(kind::batch, false, 0), 0, bytes.data() + 1, sizeof words}, 0, 2);
  ASSERT_EQ(batch.events, 2u);
  EXPECT_EQ(batch[0], theirs);
  EXPECT_EQ(batch[1], event(1, 6, 11));
}

TEST(wire, refuses_what_no_rank_sends) {
  const event mine(0, 4, 9);
  const event theirs(1, 5, 10);
  const std::byte byte{};
  const message wrong[] = {
      made(kind::subscribe, false, 0, theirs),       // not the owner
      made(kind::trigger, true, 0, event(7, 1, 1)),  // nor here
      made(kind::settled, false, 1, mine),           // not from the owner
      made(kind::settled, false, 0, theirs),         // generation 0
      made(kind::settled, false, 11, theirs),        // from behind to
      made(kind::lost, false, 2, {}),                // no such rank
      {1, wire::small_of(kind::batch, false, 0), 0, nullptr, 0},
      {1, wire::small_of(kind::batch, false, 0), 0, &byte, 1},
      {1, 0xf, mine.bits(), nullptr, 0},  // no such kind
  };
  for (const message& m : wrong) {
    EXPECT_THROW((void)wire::read(m, 0, 2), error) << (m.small & 0xf);
  }
}

/// Two ranks' couriers over a network in one thread.
struct two_ranks {
  two_ranks() : net(2, 1) {
    for (int r = 0; r < 2; ++r) {
      runtimes.push_back(core::runtime::over(std::make_unique<test::fake_session>(r, 2),
                                             std::make_unique<test::shuffled_endpoint>(net, r),
                                             core::threading::one));
      boxes.push_back(std::make_unique<outbox>(*runtimes.back()));
    }
    for (int r = 0; r < 2; ++r) {
      couriers.push_back(std::make_unique<courier>(
          *boxes[static_cast<std::size_t>(r)], job_rank{r}, 2,
          [](void* self, const event_message& m) {
            auto& all = *static_cast<std::vector<event_message>*>(self);
            all.push_back(m);
            for (std::size_t i = 0; i < m.events; ++i) {
              EXPECT_EQ(m[i], event(0, static_cast<std::uint32_t>(i), 3));
            }
          },
          &received[r]));
    }
  }
  void settle() {
    for (int quiet = 0; quiet < 20; ++quiet) {
      for (const auto& r : runtimes) {
        while (r->poll() != 0) {
          quiet = 0;
        }
      }
    }
  }
  test::shuffled_network net;
  std::vector<event_message> received[2];
  std::vector<std::unique_ptr<core::runtime>> runtimes;
  std::vector<std::unique_ptr<outbox>> boxes;
  std::vector<std::unique_ptr<courier>> couriers;
};

TEST(courier, sends_each_kind_to_whom_it_concerns) {
  two_ranks j;
  const event first(0, 4, 9);
  j.couriers[1]->subscribe(first);
  j.couriers[1]->trigger(first, true);
  j.couriers[1]->cancel(first);
  j.settle();
  ASSERT_EQ(j.received[0].size(), 3u);
  EXPECT_EQ(j.received[0][0].what, kind::subscribe);
  EXPECT_EQ(j.received[0][1].what, kind::trigger);
  EXPECT_TRUE(j.received[0][1].poisoned);
  EXPECT_EQ(j.received[0][2].what, kind::cancel);

  j.couriers[0]->settled(1, first, {7, 12, true});
  const event one[] = {event(0, 0, 3)};
  j.couriers[0]->settled(1, one);
  std::vector<event> many;
  for (std::uint32_t i = 0; i < 64; ++i) {
    many.emplace_back(job_rank(0), i, 3);
  }
  j.couriers[0]->settled(1, many);
  j.settle();
  ASSERT_EQ(j.received[1].size(), 3u);
  EXPECT_EQ(j.received[1][0].about, event(0, 4, 12));
  EXPECT_EQ(j.received[1][0].how.from, 7u);
  EXPECT_EQ(j.received[1][1].what, kind::settled);  // one event needs no payload
  EXPECT_EQ(j.received[1][1].how.from, 1u);
  EXPECT_EQ(j.received[1][2].events, 64u);
}

TEST(courier, sends_nothing_to_a_lost_rank_and_hears_nothing_from_it) {
  two_ranks j;
  j.couriers[0]->lost(1);
  j.couriers[0]->subscribe(event(1, 1, 1));
  j.couriers[1]->subscribe(event(0, 1, 1));
  j.settle();
  EXPECT_TRUE(j.received[0].empty());
  EXPECT_TRUE(j.received[1].empty());
}

}  // namespace
}  // namespace sinew::event
