// SPDX-License-Identifier: BSD-3-Clause
// Where elements lie, as arithmetic: no ranks.
#include "sinew/region/layout.hpp"

#include <set>

#include "fixture.hpp"

namespace sinew::region {
namespace {

struct three {
  float x, y, z;
};

schema mixed(shape s) {
  schema what(s);
  (void)what.add<char>("flag");
  (void)what.add<double>("value");
  (void)what.add<three>("place");
  return what;
}

TEST(Layout, ByFieldPutsEachFieldInOnePiece) {
  const layout l = layout::of(mixed({5, 7}), {order::by_field});
  EXPECT_EQ(l.fields[0].at.stride, (std::array<std::int64_t, 3>{35, 7, 1}));
  EXPECT_EQ(l.fields[1].at.offset, 64u);
  EXPECT_EQ(l.fields[1].at.stride, (std::array<std::int64_t, 3>{280, 56, 8}));
  EXPECT_EQ(l.fields[2].at.offset, 384u);
  EXPECT_EQ(l.part_bytes, 384u + 35 * 12);
}

TEST(Layout, ByElementPutsFieldsSideBySide) {
  const layout l = layout::of(mixed({5, 7}), {order::by_element});
  EXPECT_EQ(l.fields[0].at.offset, 0u);
  EXPECT_EQ(l.fields[1].at.offset, 8u);
  EXPECT_EQ(l.fields[2].at.offset, 16u);
  EXPECT_EQ(l.fields[2].at.stride, (std::array<std::int64_t, 3>{1120, 224, 32}));
  EXPECT_EQ(l.part_bytes, 35u * 32 - 4);
}

TEST(Layout, StridesAsGiven) {
  schema what({3, 4});
  (void)what.add<int>("a");
  const layout l = layout::of(what, {order::as_given, {{8, {4, 16}}}});
  EXPECT_EQ(l.fields[0].at.stride, (std::array<std::int64_t, 3>{0, 4, 16}));
  EXPECT_EQ(l.part_bytes, 8u + 2 * 4 + 3 * 16 + 4);
  require_in(refusal([&] { (void)layout::of(what, {order::as_given, {{0, {2, 16}}}}); }),
             "over each other");
  require_in(refusal([&] { (void)layout::of(what, {order::as_given, {{2, {4, 16}}}}); }),
             "alignment");
  require_in(refusal([&] { (void)layout::of(what, {order::as_given}); }), "one for each field");
}

TEST(Layout, EveryElementHasOnePlaceInOnePart) {
  random_generator random(seed());
  for (int i = 0; i < 200; ++i) {
    const auto parts = static_cast<std::uint32_t>(random.between(2, 17));
    const auto n = static_cast<std::uint64_t>(random.between(0, 3000));
    layout_options how;
    how.stripe = random.with_probability(0.5) ? 0 : std::uint64_t{1} << random.between(0, 8);
    schema what(n);
    (void)what.add<int>("a");
    const layout l = layout::of(what, how, parts);
    std::set<std::pair<std::uint32_t, std::uint64_t>> seen;
    std::vector<std::uint64_t> count(parts, 0);
    for (std::uint64_t e = 0; e < n; ++e) {
      const std::uint32_t part = l.part_of(e);
      ASSERT_LT(part, parts);
      ASSERT_LT(l.within(e), l.elements_of(part));
      ASSERT_LE((l.within(e) + 1) * 4, l.part_bytes);
      seen.insert({part, l.within(e)});
      ++count[part];
    }
    ASSERT_EQ(seen.size(), n);
    for (std::uint32_t p = 0; p < parts; ++p) {
      ASSERT_EQ(count[p], l.elements_of(p)) << n << " elements, " << parts << " parts";
    }
  }
}

TEST(Layout, StandardStripesAreBalanced) {
  for (const std::uint32_t parts : {2u, 3u, 5u, 16u}) {
    for (const std::uint64_t n : {std::uint64_t{1} << 18, std::uint64_t{1000003}}) {
      schema what(n);
      (void)what.add<int>("a");
      const layout l = layout::of(what, {}, parts);
      for (std::uint32_t p = 0; p < parts; ++p) {
        EXPECT_LT(static_cast<double>(l.elements_of(p)), 1.3 * static_cast<double>(n) / parts);
      }
    }
  }
}

TEST(Layout, FinderAgreesWithTheLayout) {
  random_generator random(seed() + 1);
  for (const std::uint32_t parts : {1u, 2u, 3u, 8u, 12u}) {
    schema what(100000);
    (void)what.add<int>("a");
    const layout l = layout::of(what, {}, parts);
    const part_finder find({{}, 0, l.parts, l.shift, 100000, true});
    for (int i = 0; i < 1000; ++i) {
      const auto e = static_cast<std::uint64_t>(random.between(0, 99999));
      ASSERT_EQ(find.part(e), l.part_of(e));
      ASSERT_EQ(find.within(e), l.within(e));
      ASSERT_EQ(find.element(find.part(e), find.within(e)), e);
    }
  }
}

TEST(Layout, LimitsAreTold) {
  require_in(refusal([] { (void)shape{1, 2, 3, 4}; }), "at most 3 axes");
  require_in(refusal([] { (void)shape{1ull << 40, 1ull << 40}; }), "2^60");
  schema what(4);
  for (std::size_t i = 0; i < most_fields; ++i) {
    (void)what.add<int>(std::string("f").append(std::to_string(i)));
  }
  require_in(refusal([&] { (void)what.add<int>("one more"); }), "at most 64 fields");
  require_in(refusal([&] { (void)layout::of(what, {order::by_field, {}, 12}, 2); }),
             "power of two");
}

TEST(Layout, NamesOfTypes) {
  EXPECT_EQ(type_name<double>(), "double");
  EXPECT_NE(hash_of(type_name<int>()), hash_of(type_name<unsigned>()));
}

}  // namespace
}  // namespace sinew::region
