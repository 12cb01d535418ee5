// SPDX-License-Identifier: BSD-3-Clause
// Messages that the network pairs with receives, over UCX in software: the promises of
// sinew/fabric/tagged.hpp, and its matching beside an engine that is right by inspection.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "fabric/worlds.hpp"
#include "match/model.hpp"

#if defined(SINEW_WITH_UCX)
namespace sinew::fabric::contract {
namespace {

std::string run_tagged(int ranks, bool threads, const body& work) {
  ::setenv("UCX_TLS", "tcp", 1);
  const network_world world(ranks);
  return run_forked(
      world, [&](int r) { return world.open(r, threads, false, pairing::by_library); }, work);
}

tagged& tags_of(member& m) {
  require(m.fabric.tags() != nullptr, "the endpoint has no tags");
  return *m.fabric.tags();
}

/// One send or receive, and how it has ended.
struct traced : tagged::operation {
  std::optional<tagged::ending> end;
  int times = 0;

  traced() {
    ended = [](tagged::operation& self, const tagged::ending& how) noexcept {
      auto& me = static_cast<traced&>(self);
      me.end = how;
      ++me.times;
    };
  }
  traced(const traced&) = delete;
  traced& operator=(const traced&) = delete;
  void note(std::optional<tagged::ending> at_once) {
    if (at_once.has_value()) {
      ended(*this, *at_once);
    }
  }
};

constexpr std::uint64_t whole = ~std::uint64_t{0};

TEST(tagged, each_size_arrives_whole_also_before_its_receive) {
  EXPECT_EQ(
      run_tagged(
          2, false,
          [](member& m) {
            tagged& tags = tags_of(m);
            for (const std::size_t bytes : {0U, 1U, 8U, 8192U, 65536U, 1U << 20U}) {
              for (const bool early : {false, true}) {
                std::vector<unsigned char> data(bytes, m.rank() == 0 ? 7 : 0);
                traced op;
                if (m.rank() == 0) {
                  op.note(tags.send(1, 9 + bytes, data.data(), bytes,
                                    early ? tagged::until::taken : tagged::until::sent, op));
                  m.until([&] { return op.end.has_value(); });
                } else {
                  if (early) {
                    op.note(tags.receive(9 + bytes, whole, data.data(), bytes, op));
                  } else {
                    std::optional<tagged::waiting> found;
                    m.until([&] { return (found = tags.take(9 + bytes, whole)).has_value(); });
                    require(found->bytes == bytes && found->key == 9 + bytes,
                            "another message was taken");
                    op.note(tags.receive(*found, data.data(), bytes, op));
                  }
                  m.until([&] { return op.end.has_value(); });
                  require(op.end->key == 9 + bytes && op.end->bytes == bytes,
                          "its ending is another's");
                  require(std::all_of(data.begin(), data.end(), [](auto b) { return b == 7; }),
                          "its data are not those that were sent");
                }
                require(op.end->why == tagged::reason::done && op.times == 1,
                        "it has not ended well");
              }
            }
            m.barrier();
          }),
      "");
}

TEST(tagged, a_send_until_its_message_is_taken_waits_for_that) {
  EXPECT_EQ(run_tagged(2, false,
                       [](member& m) {
                         tagged& tags = tags_of(m);
                         int word = 5;
                         traced op;
                         if (m.rank() == 0) {
                           op.note(tags.send(1, 4, &word, sizeof word, tagged::until::taken, op));
                           m.barrier();  // the other has looked at it
                           require(!op.end.has_value(), "it ended before it was taken");
                           m.barrier();
                         } else {
                           std::optional<tagged::waiting> found;
                           m.until([&] { return (found = tags.take(4, whole)).has_value(); });
                           m.barrier();
                           m.barrier();
                           op.note(tags.receive(*found, &word, sizeof word, op));
                         }
                         m.until([&] { return op.end.has_value(); });
                         m.barrier();
                       }),
            "");
}

TEST(tagged, too_long_cancelled_and_dropped) {
  EXPECT_EQ(
      run_tagged(2, true,
                 [](member& m) {
                   tagged& tags = tags_of(m);
                   std::vector<unsigned char> data(4096, 3);
                   if (m.rank() == 0) {
                     traced sent[3];
                     for (std::uint64_t i = 0; i < 3; ++i) {
                       sent[i].note(
                           tags.send(1, i, data.data(), data.size(), tagged::until::sent, sent[i]));
                     }
                     for (traced& each : sent) {
                       m.until([&] { return each.end.has_value(); });
                     }
                     m.barrier();
                     return;
                   }
                   traced short_one, never, good;
                   short_one.note(tags.receive(0, whole, data.data(), 100, short_one));
                   never.note(tags.receive(77, whole, data.data(), 100, never));
                   tags.cancel(never);
                   m.until([&] { return short_one.end.has_value() && never.end.has_value(); });
                   require(short_one.end->why == tagged::reason::truncated, "it was not too long");
                   require(never.end->why == tagged::reason::cancelled, "it was not cancelled");
                   std::optional<tagged::waiting> found;
                   m.until([&] { return (found = tags.take(1, whole)).has_value(); });
                   tags.drop(*found);
                   good.note(tags.receive(2, whole, data.data(), data.size(), good));
                   m.until([&] { return good.end.has_value(); });
                   tags.cancel(good);  // too late
                   require(good.end->why == tagged::reason::done && good.times == 1,
                           "it ended twice");
                   require(!tags.take(0, 0).has_value(), "something is left");
                   m.barrier();
                 }),
      "");
}

// `senders` draws what the sender does. Keys: an envelope of match, the source above. Exact
// receives, and such for any tag, as p2p hands over; p2p matches those from any source itself.
std::uint64_t key_of(int source, int tag) {
  return static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint64_t>(tag);
}
constexpr std::uint64_t any_tag_mask = ~std::uint64_t{0xffffffff};

struct pair_up {
  match::receive posted{};
  traced op;
  std::uint32_t got = 0;
};
struct stored : match::message {
  std::uint32_t number = 0;
};

void receive_by(std::mt19937& senders, member& m, int rounds) {
  std::mt19937 random(senders() + 1);
  tagged& tags = tags_of(m);
  match::test::model model;
  std::deque<pair_up> receives;
  std::deque<stored> messages;
  std::vector<std::pair<pair_up*, std::uint32_t>> expected;
  std::uint32_t number = 0;
  for (int round = 0; round < rounds; ++round) {
    for (auto posts = random() % 6; posts > 0; --posts) {
      pair_up& r = receives.emplace_back();
      const int source = static_cast<int>(random() % 3);
      const int tag = random() % 3 == 0 ? match::any_tag.value() : static_cast<int>(random() % 3);
      r.posted.wanted = {comm_rank{source}, message_tag{tag}};
      const bool any = tag == match::any_tag.value();
      r.op.note(tags.receive(key_of(source, any ? 0 : tag), any ? any_tag_mask : whole, &r.got,
                             sizeof r.got, r.op));
      if (const auto* const met = static_cast<stored*>(model.post(r.posted)); met != nullptr) {
        expected.emplace_back(&r, met->number);
      }
    }
    m.all.word[0].store(static_cast<std::uint64_t>(round) + 1);  // the sender may go on
    for (auto sends = senders() % 6; sends > 0; --sends) {
      stored& s = messages.emplace_back();
      s.number = ++number;
      const int source = static_cast<int>(senders() % 3);
      s.sent = {comm_rank{source}, message_tag{static_cast<int>(senders() % 3)}};
      if (match::receive* const met = model.arrive(s); met != nullptr) {
        const auto at = std::find_if(receives.begin(), receives.end(),
                                     [&](const pair_up& r) { return &r.posted == met; });
        expected.emplace_back(&*at, s.number);
      }
    }
    for (const auto& each : expected) {
      const pair_up& r = *each.first;
      m.until([&r] { return r.op.end.has_value(); });
      require(r.got == each.second, "round " + std::to_string(round) + ": message " +
                                        std::to_string(r.got) + " instead of " +
                                        std::to_string(each.second));
    }
    expected.clear();
  }
  for (pair_up& r : receives) {
    tags.cancel(r.op);
    m.until([&] { return r.op.end.has_value(); });
  }
}

void send_by(std::mt19937& random, member& m, int rounds) {
  (void)random();  // the receiver's seed
  tagged& tags = tags_of(m);
  std::uint32_t number = 0;
  for (int round = 0; round < rounds; ++round) {
    m.until([&] { return m.all.word[0].load() > static_cast<std::uint64_t>(round); });
    for (auto sends = random() % 6; sends > 0; --sends) {
      const std::uint32_t now = ++number;
      const int source = static_cast<int>(random() % 3);
      traced op;
      op.note(tags.send(1, key_of(source, static_cast<int>(random() % 3)), &now, sizeof now,
                        tagged::until::sent, op));
      m.until([&] { return op.end.has_value(); });
    }
  }
}

TEST(tagged, pairs_as_the_model_does) {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    EXPECT_EQ(run_tagged(2, false,
                         [seed](member& m) {
                           std::mt19937 sending(seed);
                           if (m.rank() == 0) {
                             send_by(sending, m, 150);
                           } else {
                             receive_by(sending, m, 150);
                           }
                           m.barrier();
                         }),
              "")
        << "seed " << seed;
  }
}

// Without an adapter that can, nobody pairs if only an adapter may.
TEST(tagged, not_where_only_an_adapter_may_and_none_can) {
  ::setenv("UCX_TLS", "tcp", 1);
  const network_world world(1);
  EXPECT_EQ(world.open(0, false, false, pairing::by_adapter)->tags(), nullptr);
  EXPECT_EQ(world.open(0, false)->tags(), nullptr);
}

}  // namespace
}  // namespace sinew::fabric::contract
#endif
