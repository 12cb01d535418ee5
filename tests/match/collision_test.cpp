// SPDX-License-Identifier: BSD-3-Clause
// Tags chosen to collide in `hash`: who knows the key can make it as slow as a list; who does not,
// cannot, since every process draws its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "match/engines.hpp"
#include "match/key_table.hpp"

namespace sinew::match {
namespace {

constexpr std::size_t attackers = 1000;

/// Tags whose hashes under `known` agree in all that says where they belong in a table of up to 256
/// lines.
std::vector<std::int32_t> colliding_tags(const hash_key& known) {
  std::vector<std::int32_t> tags;
  for (std::uint32_t tag = 0; tags.size() < attackers && tag < 0x7FFFFFF8u; tag += 8) {
    const std::uint64_t h = keyed_hash(known, tag / 8);
    if (h % 256 == 0 && h >> 61 == 0) {
      tags.push_back(static_cast<std::int32_t>(tag));
    }
  }
  return tags;
}

/// What it costs to receive messages with these tags in the reverse order.
search_counts cost(std::unique_ptr<engine> e, const std::vector<std::int32_t>& tags) {
  std::vector<receive> r(tags.size());
  for (std::size_t i = 0; i < tags.size(); ++i) {
    r[i].wanted = {0, message_tag{tags[i]}};
    EXPECT_EQ(e->post(r[i]), nullptr);
  }
  for (std::size_t i = tags.size(); i-- > 0;) {
    message m{{0, message_tag{tags[i]}}, {}};
    EXPECT_EQ(e->arrive(m), &r[i]);
  }
  return e->counts();
}

TEST(colliding_tags, hurt_only_under_the_key_they_were_made_for) {
  const std::uint64_t seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  const hash_key known = make_hash_key(seed);
  const auto tags = colliding_tags(known);
  const search_counts struck = cost(make_hash(known), tags);
  EXPECT_GT(struck.longest, attackers / 2) << "the attack itself does not work: seed " << seed;
  for (std::uint64_t other = 1; other <= 20; ++other) {
    const hash_key unknown = make_hash_key(seed + other);
    const search_counts spared = cost(make_hash(unknown), tags);
    EXPECT_LT(spared.longest, 40u) << "seed " << seed << " + " << other;
    EXPECT_LT(spared.examined, 3 * attackers) << "seed " << seed << " + " << other;
  }
}

TEST(colliding_tags, do_not_hurt_an_engine_as_it_is_made) {
  const hash_key known = make_hash_key(1);
  const search_counts spared = cost(make_engine("hash"), colliding_tags(known));
  EXPECT_LT(spared.longest, 40u);
}

TEST(hash_key, is_one_for_the_process_and_drawn_at_random) {
  const hash_key& mine = process_hash_key();
  EXPECT_EQ(&mine, &process_hash_key());
  EXPECT_EQ(mine.first % 2 + mine.second % 2, 2u);
  EXPECT_NE(mine.first, mine.second);
  EXPECT_NE(make_hash_key(1).mask, make_hash_key(2).mask);
}

// The table by itself: chains longer than its field for distances, which must still close up.
struct own_key {
  key operator()(const receive& r) const noexcept { return key_of(r.wanted); }
};

TEST(key_table, keeps_what_it_has_when_chains_are_long_and_slots_are_erased) {
  const hash_key known = make_hash_key(7);
  const auto tags = colliding_tags(known);
  std::vector<receive> r(tags.size());
  key_table<receive, own_key> table(known);
  for (std::size_t i = 0; i < tags.size(); ++i) {
    r[i].wanted = {0, message_tag{tags[i]}};
    table.reserve(1);
    ASSERT_EQ(table.head_or_put(key_of(r[i].wanted), r[i]), nullptr);
  }
  std::vector<std::size_t> order(tags.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::shuffle(order.begin(), order.end(), std::mt19937(5));
  for (std::size_t gone = 0; gone < order.size(); ++gone) {
    std::uint64_t examined = 0;
    auto* const s = table.find(key_of(r[order[gone]].wanted), examined);
    ASSERT_NE(s, nullptr);
    ASSERT_EQ(table.head(*s), &r[order[gone]]);
    table.erase(*s);
    for (std::size_t left = gone + 1; left < order.size(); left += 37) {
      ASSERT_NE(table.find(key_of(r[order[left]].wanted), examined), nullptr);
    }
    ASSERT_EQ(table.find(key_of(r[order[gone]].wanted), examined), nullptr);
  }
  EXPECT_EQ(table.used(), 0u);
}

TEST(key_table, puts_neighbouring_tags_into_one_line) {
  const hash_key known = make_hash_key(9);
  std::vector<receive> r(8);
  key_table<receive, own_key> table(known);
  table.reserve(1000);
  for (std::int32_t i = 0; i < 8; ++i) {
    r[static_cast<std::size_t>(i)].wanted = {3, message_tag{800 + i}};
    (void)table.head_or_put(key_of({3, message_tag{800 + i}}), r[static_cast<std::size_t>(i)]);
  }
  std::vector<std::uintptr_t> lines;
  for (const receive& x : r) {
    std::uint64_t examined = 0;
    const auto* s = table.find(key_of(x.wanted), examined);
    ASSERT_NE(s, nullptr);
    EXPECT_EQ(examined, 1u);
    lines.push_back(reinterpret_cast<std::uintptr_t>(s) / 64);
  }
  EXPECT_EQ(std::count(lines.begin(), lines.end(), lines[0]), 8);
}

}  // namespace
}  // namespace sinew::match
