// SPDX-License-Identifier: BSD-3-Clause
// Sections and lists as runs, against a loop over all elements.
#include "region/walker.hpp"

#include "fixture.hpp"
#include "plain_heaps.hpp"

namespace sinew::region {
namespace {

/// Part and byte of each element, by the layout's own arithmetic.
struct spot {
  std::uint32_t part;
  std::int64_t offset;
  friend bool operator==(const spot&, const spot&) = default;
};
std::ostream& operator<<(std::ostream& to, const spot& s) {
  return to << s.part << ':' << s.offset;
}

spot spot_of(const layout& l, std::uint64_t element) {
  const affine& f = l.fields[0].at;
  const auto offset = static_cast<std::int64_t>(f.offset);
  if (l.parts > 1) {
    return {l.part_of(element),
            offset + static_cast<std::int64_t>(l.within(element)) * f.stride[2]};
  }
  const auto& n = l.elements.padded();
  return {0, offset + static_cast<std::int64_t>(element / n[2] / n[1]) * f.stride[0] +
                 static_cast<std::int64_t>(element / n[2] % n[1]) * f.stride[1] +
                 static_cast<std::int64_t>(element % n[2]) * f.stride[2]};
}

std::vector<std::uint64_t> elements(const layout& l, const box& b) {
  const auto& n = l.elements.padded();
  std::vector<std::uint64_t> all;
  const auto at = [](const slice& s, std::uint64_t i) {
    return static_cast<std::uint64_t>(s.start + static_cast<std::int64_t>(i) * s.step);
  };
  for (std::uint64_t i = 0; i < b[0].count; ++i) {
    for (std::uint64_t j = 0; j < b[1].count; ++j) {
      for (std::uint64_t k = 0; k < b[2].count; ++k) {
        all.push_back((at(b[0], i) * n[1] + at(b[1], j)) * n[2] + at(b[2], k));
      }
    }
  }
  return all;
}

std::vector<spot> walked(walker w, random_generator& random) {
  std::vector<spot> all;
  while (!w.done()) {
    const run r = w.now();
    EXPECT_GE(r.count, 1u);
    EXPECT_LE(r.count, w.left());
    const auto n = static_cast<std::uint64_t>(random.between(1, static_cast<int>(r.count)));
    for (std::uint64_t i = 0; i < n; ++i) {
      all.push_back({r.part, r.offset + static_cast<std::int64_t>(i) * r.step});
    }
    w.skip(n);
  }
  return all;
}

slice some(random_generator& random, std::uint64_t extent) {
  const auto n = static_cast<int>(extent);
  slice s{random.between(0, n - 1), 1, random.between(1, 3)};
  if (random.with_probability(0.3)) {
    s.step = -s.step;
  }
  const std::int64_t steps = s.step > 0 ? (n - 1 - s.start) / s.step : s.start / -s.step;
  s.count = static_cast<std::uint64_t>(random.between(0, static_cast<int>(steps) + 1));
  return s;
}

TEST(Walker, GoesThroughSectionsInOrder) {
  random_generator random(seed());
  for (int i = 0; i < 500; ++i) {
    const shape s{static_cast<std::uint64_t>(random.between(1, 5)),
                  static_cast<std::uint64_t>(random.between(1, 6)),
                  static_cast<std::uint64_t>(random.between(1, 9))};
    const auto parts = static_cast<std::uint32_t>(random.between(1, 4));
    const layout l = layout_of<int>(s, parts, {order::by_field, {}, parts > 1 ? 4u : 0u});
    section which{some(random, s.extent(0)), some(random, s.extent(1)), some(random, s.extent(2))};
    const box b = resolve(s, which, "a test");
    std::vector<spot> expected;
    for (const std::uint64_t e : elements(l, b)) {
      expected.push_back(spot_of(l, e));
    }
    ASSERT_EQ(elements_of(b), expected.size());
    ASSERT_EQ(walked(walker(l, 0, b), random), expected);
    // The same as addresses, some at a time.
    std::vector<std::uint64_t> bases;
    for (std::uint32_t p = 0; p < parts; ++p) {
      bases.push_back(std::uint64_t{1000000} * (p + 1));
    }
    walker w(l, 0, b);
    for (std::size_t at = 0; at < expected.size();) {
      std::vector<std::uint64_t> some_of(std::min<std::size_t>(
          expected.size() - at, static_cast<std::size_t>(random.between(1, 9))));
      w.addresses(bases, some_of);
      for (const std::uint64_t address : some_of) {
        ASSERT_EQ(address,
                  bases[expected[at].part] + static_cast<std::uint64_t>(expected[at].offset));
        ++at;
      }
    }
    ASSERT_TRUE(w.done());
  }
}

TEST(Walker, GoesThroughListsInOrder) {
  random_generator random(seed() + 1);
  for (const std::uint32_t parts : {1u, 3u}) {
    const layout l = layout_of<double>(shape{3, 4, 10}, parts, {order::by_field, {}, 8});
    std::vector<std::int64_t> list;
    std::vector<spot> expected;
    for (int i = 0; i < 200; ++i) {
      list.push_back(random.between(0, 119));
      expected.push_back(spot_of(l, static_cast<std::uint64_t>(list.back())));
    }
    EXPECT_EQ(walked(walker(l, 0, std::span<const std::int64_t>(list)), random), expected);
  }
}

TEST(Walker, ContiguousRowsAreOneRun) {
  const layout l = layout_of<int>(shape{4, 5, 6});
  walker all(l, 0, resolve(l.elements, {}, "a test"));
  EXPECT_EQ(all.now().count, 120u);
  walker rows(l, 0, resolve(l.elements, {{1, 2}, {}, {}}, "a test"));
  EXPECT_EQ(rows.now().count, 60u);
  walker columns(l, 0, resolve(l.elements, {{}, {}, {2, 1}}, "a test"));
  EXPECT_EQ(columns.now().count, 20u);
  EXPECT_EQ(columns.now().step, 24);
}

TEST(Walker, CopyRunMovesEachSize) {
  for (const std::size_t bytes : {1u, 2u, 3u, 4u, 8u, 12u, 16u}) {
    std::vector<std::byte> from(200);
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] = static_cast<std::byte>(i);
    }
    std::vector<std::byte> to(200);
    copy_run(to.data(), 20, from.data() + 160, -16, 10, bytes);
    for (std::size_t i = 0; i < 10; ++i) {
      for (std::size_t b = 0; b < 20; ++b) {
        ASSERT_EQ(to[20 * i + b], b < bytes ? from[160 - 16 * i + b] : std::byte{0});
      }
    }
  }
}

}  // namespace
}  // namespace sinew::region
