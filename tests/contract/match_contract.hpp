// SPDX-License-Identifier: BSD-3-Clause
// The matching contract as tests. A program includes this and instantiates match_contract with the
// names of the engines it wants held to it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sinew/match/engine.hpp"

namespace sinew::match::contract {

inline receive want(comm_rank source, message_tag tag) { return {{source, tag}, {}}; }
inline message from(comm_rank source, message_tag tag) { return {{source, tag}, {}}; }

class match_contract : public ::testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<engine> e_ = make_engine(GetParam());
};

TEST_P(match_contract, is_named_and_starts_empty) {
  EXPECT_EQ(e_->name(), GetParam());
  EXPECT_EQ(e_->posted(), 0u);
  EXPECT_EQ(e_->unexpected(), 0u);
  EXPECT_EQ(e_->peek({any_source, any_tag}), nullptr);
  EXPECT_EQ(e_->take({0, 0}), nullptr);
}

TEST_P(match_contract, a_receive_waits_for_its_message) {
  receive r = want(3, 7);
  message wrong_tag = from(3, 8);
  message wrong_source = from(4, 7);
  message right = from(3, 7);
  EXPECT_EQ(e_->post(r), nullptr);
  EXPECT_EQ(e_->arrive(wrong_tag), nullptr);
  EXPECT_EQ(e_->arrive(wrong_source), nullptr);
  EXPECT_EQ(e_->posted(), 1u);
  EXPECT_EQ(e_->arrive(right), &r);
  EXPECT_EQ(e_->posted(), 0u);
  EXPECT_EQ(e_->unexpected(), 2u);
}

TEST_P(match_contract, a_message_waits_for_its_receive) {
  message m = from(0, 5);
  receive other = want(0, 6);
  receive r = want(0, 5);
  EXPECT_EQ(e_->arrive(m), nullptr);
  EXPECT_EQ(e_->post(other), nullptr);
  EXPECT_EQ(e_->post(r), &m);
  EXPECT_EQ(e_->unexpected(), 0u);
  EXPECT_EQ(e_->posted(), 1u);
}

TEST_P(match_contract, equal_envelopes_keep_their_order) {
  std::vector<receive> r(100, want(1, 1));
  std::vector<message> m(100, from(1, 1));
  for (receive& x : r) {
    EXPECT_EQ(e_->post(x), nullptr);
  }
  for (std::size_t i = 0; i < r.size(); ++i) {
    EXPECT_EQ(e_->arrive(m[i]), &r[i]) << i;
  }
  for (message& x : m) {
    EXPECT_EQ(e_->arrive(x), nullptr);
  }
  for (std::size_t i = 0; i < r.size(); ++i) {
    EXPECT_EQ(e_->post(r[i]), &m[i]) << i;
  }
}

// Few entries and many: engines may keep them differently.
TEST_P(match_contract, the_earliest_of_all_classes_of_receive_wins) {
  for (std::size_t others : {std::size_t{0}, std::size_t{50}}) {
    std::vector<receive> filler(others, want(9, 9));
    for (receive& x : filler) {
      EXPECT_EQ(e_->post(x), nullptr);
    }
    receive exact = want(2, 3);
    receive by_tag = want(any_source, 3);
    receive by_source = want(2, any_tag);
    receive all = want(any_source, any_tag);
    receive* order[4] = {&exact, &by_tag, &by_source, &all};
    for (int first = 0; first < 4; ++first) {
      message m[4] = {from(2, 3), from(2, 3), from(2, 3), from(2, 3)};
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(e_->post(*order[(first + i) % 4]), nullptr);
      }
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(e_->arrive(m[i]), order[(first + i) % 4]);
      }
    }
    message drain = from(9, 9);
    for (receive& x : filler) {
      EXPECT_EQ(e_->arrive(drain), &x);
    }
  }
}

TEST_P(match_contract, wildcard_receives_take_the_earliest_message) {
  for (std::size_t others : {std::size_t{0}, std::size_t{50}}) {
    std::vector<message> filler(others, from(8, 8));
    message m[6] = {from(1, 1), from(2, 1), from(1, 2), from(2, 2), from(3, 1), from(3, 3)};
    for (message& x : m) {
      EXPECT_EQ(e_->arrive(x), nullptr);
    }
    for (message& x : filler) {
      EXPECT_EQ(e_->arrive(x), nullptr);
    }
    receive by_tag = want(any_source, 2);
    receive by_source = want(2, any_tag);
    receive all = want(any_source, any_tag);
    receive exact = want(3, 3);
    EXPECT_EQ(e_->post(by_tag), &m[2]);
    EXPECT_EQ(e_->post(by_source), &m[1]);
    EXPECT_EQ(e_->post(all), &m[0]);
    EXPECT_EQ(e_->post(by_source), &m[3]);
    EXPECT_EQ(e_->post(exact), &m[5]);
    EXPECT_EQ(e_->post(all), &m[4]);
    for (message& x : filler) {
      EXPECT_EQ(e_->post(all), &x);
    }
    EXPECT_EQ(e_->unexpected(), 0u);
  }
}

TEST_P(match_contract, probing_leaves_and_taking_removes) {
  message a = from(1, 10);
  message b = from(2, 10);
  EXPECT_EQ(e_->arrive(a), nullptr);
  EXPECT_EQ(e_->arrive(b), nullptr);
  EXPECT_EQ(e_->peek({any_source, 10}), &a);
  EXPECT_EQ(e_->peek({2, any_tag}), &b);
  EXPECT_EQ(e_->peek({any_source, 11}), nullptr);
  EXPECT_EQ(e_->unexpected(), 2u);
  EXPECT_EQ(e_->take({any_source, any_tag}), &a);
  EXPECT_EQ(e_->peek({any_source, any_tag}), &b);
  EXPECT_EQ(e_->take({2, 10}), &b);
  EXPECT_EQ(e_->take({2, 10}), nullptr);
  EXPECT_EQ(e_->unexpected(), 0u);
}

TEST_P(match_contract, cancel_works_once_and_only_before_the_match) {
  receive a = want(1, 1);
  receive b = want(any_source, 1);
  receive c = want(1, 1);
  message m = from(1, 1);
  for (receive* r : {&a, &b, &c}) {
    EXPECT_EQ(e_->post(*r), nullptr);
  }
  EXPECT_TRUE(e_->cancel(a));
  EXPECT_FALSE(e_->cancel(a));
  EXPECT_EQ(e_->arrive(m), &b);
  EXPECT_FALSE(e_->cancel(b));
  EXPECT_TRUE(e_->cancel(c));
  EXPECT_EQ(e_->posted(), 0u);
  EXPECT_EQ(e_->arrive(m), nullptr);
  receive at_once = want(1, any_tag);
  EXPECT_EQ(e_->post(at_once), &m);
  EXPECT_FALSE(e_->cancel(at_once));
}

TEST_P(match_contract, visits_in_order_of_storing) {
  std::vector<receive> r;
  std::vector<message> m;
  for (int i = 0; i < 40; ++i) {
    r.push_back(want(i % 3 == 0 ? any_source : comm_rank{1},
                     i % 5 == 0 ? any_tag : message_tag{100 + i % 7}));
    m.push_back(from(comm_rank{50 + i % 3}, message_tag{200 + i % 7}));
  }
  for (message& x : m) {
    EXPECT_EQ(e_->arrive(x), nullptr);
  }
  EXPECT_NE(e_->peek({any_source, 203}), nullptr);
  for (receive& x : r) {
    if (x.wanted.source == any_source && x.wanted.tag == any_tag) {
      x.wanted = {1, 1};
    }
    EXPECT_EQ(e_->post(x), nullptr);
  }
  std::vector<const receive*> seen_r;
  std::vector<const message*> seen_m;
  e_->each_receive(
      [](void* to, const receive& x) { static_cast<decltype(seen_r)*>(to)->push_back(&x); },
      &seen_r);
  e_->each_message(
      [](void* to, const message& x) { static_cast<decltype(seen_m)*>(to)->push_back(&x); },
      &seen_m);
  ASSERT_EQ(seen_r.size(), r.size());
  ASSERT_EQ(seen_m.size(), m.size());
  for (std::size_t i = 0; i < r.size(); ++i) {
    EXPECT_EQ(seen_r[i], &r[i]);
  }
  for (std::size_t i = 0; i < m.size(); ++i) {
    EXPECT_EQ(seen_m[i], &m[i]);
  }
}

TEST_P(match_contract, counts_its_searches) {
  receive r = want(1, 1);
  message m = from(1, 1);
  EXPECT_EQ(e_->post(r), nullptr);
  EXPECT_EQ(e_->arrive(m), &r);
  EXPECT_EQ(e_->counts().searches, 2u);
  EXPECT_EQ(e_->counts().examined, 1u);
  EXPECT_EQ(e_->counts().longest, 1u);
}

TEST_P(match_contract, remembers_the_fullest_moment) {
  std::vector<receive> r(20, want(1, 1));
  std::vector<message> m(30, from(1, 1));
  for (receive& x : r) {
    EXPECT_EQ(e_->post(x), nullptr);
  }
  for (message& x : m) {
    (void)e_->arrive(x);
  }
  EXPECT_NE(e_->take({1, 1}), nullptr);
  EXPECT_EQ(e_->counts().most_posted, 20u);
  EXPECT_EQ(e_->counts().most_unexpected, 10u);
}

}  // namespace sinew::match::contract
