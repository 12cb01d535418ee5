// SPDX-License-Identifier: BSD-3-Clause
// Random nested types against the literal type map; random pieces of pack and unpack.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <utility>
#include <vector>

#include "layout/naive_datatype.hpp"

namespace sinew::layout {
namespace {

using naive::naive_type;

std::uint64_t seed() {
  const char* set = std::getenv("SINEW_TEST_SEED");
  const std::uint64_t value =
      set != nullptr ? std::strtoull(set, nullptr, 0) : std::random_device{}();
  std::cout << "SINEW_TEST_SEED=" << value << '\n';
  return value;
}

struct both {
  datatype_ref made;
  naive_type model;
};

class random_types : public ::testing::Test {
 protected:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::ptrdiff_t between(std::ptrdiff_t low, std::ptrdiff_t high) {
    return low + static_cast<std::ptrdiff_t>(below(static_cast<std::size_t>(high - low + 1)));
  }

  both leaf() {
    const auto e = static_cast<element>(1 + below(static_cast<std::size_t>(element::pair_f80_i32)));
    return {share(of(e)), naive_type::of(e)};
  }

  both make(int depth) {
    if (depth == 0) {
      return leaf();
    }
    switch (below(7)) {
      case 0:
        return make_contiguous(make(depth - 1));
      case 1:
        return make_vector(make(depth - 1));
      case 2:
        return make_indexed(make(depth - 1));
      case 3:
      case 4:
        return make_structure(depth);
      case 5:
        return make_resized(make(depth - 1));
      default:
        return make_indexed_regular(make(depth - 1));
    }
  }

  both make_contiguous(both old) {
    const std::size_t n = below(6);
    both b{contiguous(n, *old.made), {}};
    b.model.append_block(old.model, 0, n);
    return b;
  }

  both make_vector(both old) {
    const std::size_t n = below(6);
    const std::size_t length = below(4);
    // Often exactly joining or a multiple of the extent, as programs do.
    const std::ptrdiff_t x = old.model.extent();
    std::ptrdiff_t stride = between(-40, 90);
    if (below(3) == 0) {
      stride = x * static_cast<std::ptrdiff_t>(length);
    }
    if (below(3) == 0) {
      stride = x * static_cast<std::ptrdiff_t>(length + 1);
    }
    both b{vector(n, length, stride, *old.made), {}};
    for (std::size_t i = 0; i < n; ++i) {
      b.model.append_block(old.model, stride * static_cast<std::ptrdiff_t>(i), length);
    }
    return b;
  }

  both make_indexed(both old) {
    std::vector<std::size_t> lengths(below(6));
    std::vector<std::ptrdiff_t> places(lengths.size());
    std::ptrdiff_t at = between(-50, 50);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      lengths[i] = below(4);
      places[i] = at;
      at += old.model.extent() * static_cast<std::ptrdiff_t>(lengths[i]);
      if (below(2) == 0) {
        at += between(-20, 60);
      }
    }
    return indexed_both(old, lengths, places);
  }

  both make_indexed_regular(both old) {
    std::vector<std::size_t> lengths(below(24), 1 + below(2));
    std::vector<std::ptrdiff_t> places(lengths.size());
    const std::ptrdiff_t stride = between(-64, 64);
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] = 7 + stride * static_cast<std::ptrdiff_t>(i);
    }
    if (!places.empty() && below(2) == 0) {
      places.back() += 3;
    }
    return indexed_both(old, lengths, places);
  }

  both indexed_both(const both& old, const std::vector<std::size_t>& lengths,
                    const std::vector<std::ptrdiff_t>& places) {
    both b{indexed(lengths, places, *old.made), {}};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      b.model.append_block(old.model, places[i], lengths[i]);
    }
    return b;
  }

  both make_structure(int depth) {
    const std::size_t n = below(5);
    std::vector<both> parts;
    std::vector<std::size_t> lengths;
    std::vector<std::ptrdiff_t> places;
    std::vector<const datatype*> types;
    both b;
    std::ptrdiff_t at = between(-30, 30);
    for (std::size_t i = 0; i < n; ++i) {
      parts.push_back(make(static_cast<int>(below(static_cast<std::size_t>(depth)))));
      lengths.push_back(below(4));
      places.push_back(at);
      b.model.append_block(parts[i].model, at, lengths[i]);
      at += parts[i].model.extent() * static_cast<std::ptrdiff_t>(lengths[i]);
      if (below(2) == 0) {
        at += between(-10, 40);
      }
    }
    b.model.pad();
    for (const both& p : parts) {
      types.push_back(p.made.get());
    }
    b.made = structure(lengths, places, types);
    return b;
  }

  both make_resized(both old) {
    const std::ptrdiff_t low = between(-20, 20);
    std::ptrdiff_t extent = between(-30, 200);
    if (below(3) == 0) {
      extent = static_cast<std::ptrdiff_t>(old.model.size());
    }
    both b{resized(*old.made, low, extent), old.model};
    b.model.lower_marks = {low};
    b.model.upper_marks = {low + extent};
    return b;
  }

  std::mt19937_64 random_;
};

void expect_same_facts(const datatype& t, const naive_type& model) {
  ASSERT_EQ(t.size(), model.size());
  ASSERT_EQ(t.lower(), model.lower());
  ASSERT_EQ(t.extent(), model.extent());
  ASSERT_EQ(t.true_lower(), model.true_lower());
  ASSERT_EQ(t.true_extent(), model.true_upper() - model.true_lower());
  ASSERT_EQ(t.elements(), model.map.size());
  ASSERT_EQ(t.base(), model.base());
}

void expect_same_visits(const datatype& t, const naive_type& model, std::size_t count) {
  const std::vector<std::ptrdiff_t> expected = model.bytes(count);
  std::vector<std::ptrdiff_t> seen;
  std::ptrdiff_t end = 0;
  for_each_run(t, count, [&](std::ptrdiff_t offset, std::size_t bytes) {
    EXPECT_TRUE(seen.empty() || offset != end) << "adjacent runs were not joined";
    for (std::size_t i = 0; i < bytes; ++i) {
      seen.push_back(offset + static_cast<std::ptrdiff_t>(i));
    }
    end = offset + static_cast<std::ptrdiff_t>(bytes);
  });
  ASSERT_EQ(seen, expected);
  bool one_run = !expected.empty() && count > 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    one_run = one_run && expected[i] == static_cast<std::ptrdiff_t>(i);
  }
  if (count > 1) {
    ASSERT_EQ(t.dense(), one_run);
  }

  std::vector<std::pair<std::ptrdiff_t, element>> leaves;
  for_each_leaf(t, count, [&](std::ptrdiff_t offset, std::size_t n, element kind) {
    for (std::size_t i = 0; i < n; ++i) {
      leaves.emplace_back(offset + static_cast<std::ptrdiff_t>(i * extent_of(kind)), kind);
    }
  });
  ASSERT_EQ(leaves.size(), count * model.map.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto& e = model.map[i % model.map.size()];
    const auto instance = static_cast<std::ptrdiff_t>(i / model.map.size());
    ASSERT_EQ(leaves[i].first, e.offset + instance * model.extent());
    ASSERT_EQ(leaves[i].second, e.kind);
  }
}

void expect_same_elements(const datatype& t, const naive_type& model, std::size_t limit) {
  std::size_t left = 0;
  std::size_t model_left = 0;
  const std::size_t model_basics = model.basics_in(limit, model_left);
  ASSERT_EQ(elements_in(t, limit, &left), model_basics);
  ASSERT_EQ(left, model_left);
}

TEST_F(random_types, agree_with_the_type_map) {
  random_.seed(seed());
  int tested = 0;
  for (int round = 0; round < 4000; ++round) {
    const both b = make(static_cast<int>(below(5)));
    const datatype& t = *b.made;
    if (b.model.size() > 6000) {
      continue;
    }
    ++tested;
    const std::size_t count = below(4);
    expect_same_facts(t, b.model);
    if (!HasFatalFailure()) {
      expect_same_visits(t, b.model, count);
    }
    ASSERT_FALSE(HasFatalFailure()) << "round " << round;

    const std::vector<std::ptrdiff_t> map = b.model.bytes(count);
    const auto [low, high] = std::minmax_element(map.begin(), map.end());
    const std::ptrdiff_t shift = map.empty() ? 0 : -*low;
    std::vector<std::byte> memory(map.empty() ? 0 : static_cast<std::size_t>(*high + shift + 1));
    for (std::byte& x : memory) {
      x = static_cast<std::byte>(random_());
    }
    std::byte* const base = memory.data() + shift;

    // Pack: pieces of random sizes, in a random order of start.
    std::vector<std::byte> packed(map.size());
    std::vector<std::size_t> cuts{0, map.size()};
    for (std::size_t i = below(6); i != 0; --i) {
      cuts.push_back(below(map.size() + 1));
    }
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = cuts.size() - 1; i-- > 0;) {
      const std::size_t n = cuts[i + 1] - cuts[i];
      ASSERT_EQ(pack(t, count, base, cuts[i], {packed.data() + cuts[i], n}), n);
    }
    for (std::size_t i = 0; i < map.size(); ++i) {
      ASSERT_EQ(packed[i], base[map[i]]) << "round " << round << " byte " << i;
    }
    std::byte spare[64];
    ASSERT_EQ(pack(t, count, base, map.size(), spare), 0u);
    const std::size_t tail = std::min<std::size_t>(map.size(), 5);
    ASSERT_EQ(pack(t, count, base, map.size() - tail, spare), tail);

    // Unpack in order, into other memory; bytes outside the map stay.
    std::vector<std::byte> expected(memory.size(), std::byte{0x5A});
    for (std::size_t i = 0; i < map.size(); ++i) {
      expected[static_cast<std::size_t>(map[i] + shift)] = packed[i];
    }
    std::vector<std::byte> into(memory.size(), std::byte{0x5A});
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const std::size_t n = cuts[i + 1] - cuts[i];
      ASSERT_EQ(unpack(t, count, into.data() + shift, cuts[i], {packed.data() + cuts[i], n}), n);
    }
    ASSERT_TRUE(into == expected) << "round " << round;

    std::fill(into.begin(), into.end(), std::byte{0x5A});
    copy(t, count, base, t, count, into.data() + shift);
    ASSERT_TRUE(into == expected) << "round " << round;

    for (int i = 0; i < 5 && !map.empty(); ++i) {
      expect_same_elements(t, b.model, below(2 * map.size() + 1));
      ASSERT_FALSE(HasFatalFailure()) << "round " << round;
    }
  }
  EXPECT_GT(tested, 2000);
}

}  // namespace
}  // namespace sinew::layout
