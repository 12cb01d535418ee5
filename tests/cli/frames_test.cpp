// SPDX-License-Identifier: BSD-3-Clause
// What launcher and daemons say to each other: there and back, and nonsense.
#include "sinew/run/frames.hpp"

#include <gtest/gtest.h>

#include <random>

#include "fuzz/host_wire_input.hpp"
#include "sinew/run/greeting.hpp"
#include "sinew/run/host_orders.hpp"
#include "sinew/run/host_tree.hpp"

namespace sinew::tool {
namespace {

TEST(frames, arrive_in_any_pieces) {
  const std::string stream = frame_bytes(frame_kind::output, 7, "text\n") +
                             frame_bytes(frame_kind::beat, 0, "") +
                             frame_bytes(frame_kind::said, 65'535, std::string(100'000, 'x'));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, stream.size()}) {
    frame_buffer buffer;
    std::vector<frame> got;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      buffer.append(std::string_view(stream).substr(at, piece));
      while (auto next = buffer.next()) {
        got.push_back(std::move(*next));
      }
    }
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(got[0].kind, frame_kind::output);
    EXPECT_EQ(got[0].rank, 7);
    EXPECT_EQ(got[0].bytes, "text\n");
    EXPECT_EQ(got[2].bytes.size(), 100'000U);
    EXPECT_FALSE(buffer.broken());
  }
}

TEST(frames, nonsense_is_refused) {
  frame_buffer text;
  text.append("GET / HTTP/1.1\r\nHost: h1\r\n\r\n");
  EXPECT_EQ(text.next(), std::nullopt);
  EXPECT_TRUE(text.broken());
}

host_orders some_orders() {
  host_orders orders;
  orders.job = "job-1";
  orders.node = 1;
  orders.directory = "/a b";
  orders.words = {"-n", "3", "", "x\ny"};
  orders.environment = {"A=b"};
  orders.ranks = {3};
  orders.hosts = {{"h1", "h2"}, {0, 1, 0}, {{"h1", 2}, {"h2", 1}, {"h3", 4}}};
  orders.host_timeout_ms = 4000;
  orders.parents = {launcher_node, 0};
  orders.agent = "ssh -x";
  return orders;
}

/// Here and there another byte, a piece that is missing or there twice.
std::string damaged(std::string bytes, std::mt19937& random) {
  for (auto changes = random() % 4; changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = random() % bytes.size();
    const std::size_t size = random() % 9;
    switch (random() % 3) {
      case 0:
        bytes[at] = static_cast<char>(random() % 2 == 0 ? random() : 0xff);
        break;
      case 1:
        bytes.erase(at, size);
        break;
      default:
        bytes.insert(at, bytes, at, size);
    }
  }
  return bytes;
}

TEST(frames, damaged_ones_lead_nobody_astray) {
  const unsigned seed = 20'261'126;
  std::mt19937 random(seed);
  const std::string orders = pack(some_orders());
  const greeting hello{"1.0+abc", {{1, 255}}, 3, 4711, {"10.0.0.1"}};
  const std::string numbers = packer().numbers({1, 2, 3}).texts({"a", ""}).bytes();
  for (int round = 0; round < 20'000; ++round) {
    std::string stream;
    for (auto frames = random() % 4; frames > 0; --frames) {
      const auto kind =
          static_cast<frame_kind>(random() % (static_cast<unsigned>(last_frame_kind) + 1));
      stream += frame_bytes(kind, static_cast<int>(random() % 5),
                            damaged(random() % 2 == 0 ? orders : numbers, random));
    }
    for (const std::string& bytes : {damaged(stream, random), damaged(orders, random),
                                     damaged(greeting_line(hello), random)}) {
      ASSERT_TRUE(fuzz::host_wire_input(bytes)) << "seed " << seed << ", round " << round;
    }
  }
}

TEST(frames, orders_there_and_back) {
  host_orders orders = some_orders();
  const std::string bytes = pack(orders);
  const auto back = unpack_orders(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->words, orders.words);
  EXPECT_EQ(back->hosts.node_of, orders.hosts.node_of);
  EXPECT_EQ(hosts_text(back->hosts.named), "h1:2,h2:1,h3:4");
  EXPECT_EQ(back->directory, "/a b");
  EXPECT_EQ(back->parents, orders.parents);
  EXPECT_EQ(back->agent, "ssh -x");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(unpack_orders(std::string_view(bytes).substr(0, size))) << size;
  }
  orders.node = 2;  // there are two
  EXPECT_FALSE(unpack_orders(pack(orders)));
  orders.node = 1;
  orders.parents = {1, launcher_node};  // a child before its parent could be a circle
  EXPECT_FALSE(unpack_orders(pack(orders)));
}

TEST(frames, votes_there_and_back) {
  cast_vote vote{{1023, 9, 2}, ~std::uint32_t{1}, 3, false};
  const std::string bytes = pack(vote);
  const auto back = unpack_vote(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->ballot.slot, 1023U);
  EXPECT_EQ(back->ballot.key, 9U);
  EXPECT_EQ(back->ballot.turn, 2U);
  EXPECT_EQ(back->flag, ~std::uint32_t{1});
  EXPECT_EQ(back->deaths, 3U);
  EXPECT_FALSE(back->left);
  EXPECT_FALSE(unpack_vote(std::string_view(bytes).substr(1)));
  vote.ballot.slot = boot::survival::slots;  // outside of the memory that ranks share
  EXPECT_FALSE(unpack_vote(pack(vote)));
}

TEST(host_tree, is_filled_level_by_level) {
  EXPECT_EQ(host_tree(std::vector<bool>(7, false), 2),
            (std::vector<int>{launcher_node, launcher_node, 0, 0, 1, 1, 2}));
  EXPECT_EQ(host_tree(std::vector<bool>(3, false), 1), (std::vector<int>{launcher_node, 0, 1}));
  EXPECT_EQ(host_tree(std::vector<bool>(32, false), 32), std::vector<int>(32, launcher_node));
  // Only the launcher can start what is on its machine.
  EXPECT_EQ(host_tree({false, false, true, false}, 1),
            (std::vector<int>{launcher_node, 0, launcher_node, 1}));
}

TEST(host_tree, ways_lead_down) {
  const std::vector<int> parents = host_tree(std::vector<bool>(100, false), 3);
  ASSERT_TRUE(is_tree(parents));
  EXPECT_EQ(children_of(parents, launcher_node), (std::vector<int>{0, 1, 2}));
  for (int node = 0; node < 100; ++node) {
    int at = launcher_node;
    for (int step = 0; at != node; ++step) {
      at = child_towards(parents, at, node);
      ASSERT_NE(at, launcher_node) << node;
      ASSERT_LT(step, 6) << node;
    }
    EXPECT_LE(children_of(parents, node).size(), 3U);
  }
  EXPECT_EQ(child_towards(parents, 1, 3), launcher_node);  // which is below 0
}

TEST(greeting, line_there_and_back) {
  const greeting said{"1.0+abc", random_secret(), 3, 4711, {"10.0.0.1", "fd00::1"}};
  const auto back = parse_greeting(greeting_line(said));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->build, said.build);
  EXPECT_TRUE(is_same(back->secret, said.secret));
  EXPECT_EQ(back->port, 4711);
  EXPECT_EQ(back->addresses, said.addresses);
  for (const char* text : {"", "sinew-daemon", "sinew-daemon b 12 0 0", "ssh b 1 2 3"}) {
    EXPECT_FALSE(parse_greeting(text)) << text;
  }
}

}  // namespace
}  // namespace sinew::tool
