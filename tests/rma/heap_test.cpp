// SPDX-License-Identifier: BSD-3-Clause
// The heap's bookkeeping against a model, its determinism, and what users see when it is full.
#include "sinew/rma/heap.hpp"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <memory>

#include "gtest/gtest.h"
#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"
#include "sinew/rma/place.hpp"
#include "support/rma_job.hpp"

namespace sinew::rma {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

struct some_heap {
  explicit some_heap(heap_sizes sizes = {4 * mib, 2 * mib})
      : shape(3, sizes), memory(shape.bytes), all(shape, sizes, memory.base()) {}
  heap_shape shape;
  test::shared_memory memory;
  heap all;
};

TEST(place, packs_into_a_word_that_is_never_zero) {
  for (const place p : {place{0, 0}, place{0, 64}, place{most_ranks, (1ULL << offset_bits) - 1}}) {
    EXPECT_NE(pack(p), 0U);
    EXPECT_EQ(unpack(pack(p)), p);
  }
}

TEST(heap, blocks_never_overlap_and_all_come_back) {
  some_heap h;
  random_generator random(seed_from_environment());
  for (const part where : {part::symmetric, part::local}) {
    const std::size_t whole = h.all.largest_free(where);
    std::map<std::uint64_t, std::size_t> model;
    for (int step = 0; step < 20000; ++step) {
      if (model.empty() || random.with_probability(0.55)) {
        const std::size_t bytes = random.below(std::size_t{1} << random.below(17));
        const std::size_t alignment = std::size_t{1} << random.below(14);
        const std::uint64_t at = h.all.try_allocate(where, bytes, alignment);
        if (at == 0) {
          ASSERT_LT(h.all.largest_free(where), bytes + alignment + 64);
          continue;
        }
        ASSERT_EQ(at % 64, 0U);
        ASSERT_EQ(at % alignment, 0U);
        ASSERT_GE(h.all.bytes_of(at), bytes);
        const auto next = model.lower_bound(at);
        ASSERT_TRUE(next == model.end() || at + std::max<std::size_t>(bytes, 1) <= next->first);
        ASSERT_TRUE(next == model.begin() ||
                    std::prev(next)->first + std::prev(next)->second <= at);
        model.emplace(at, h.all.bytes_of(at));
      } else {
        auto victim = model.lower_bound(random.below(h.shape.bytes));
        victim = victim == model.end() ? model.begin() : victim;
        h.all.release(victim->first);
        model.erase(victim);
      }
      std::size_t used = 0;
      for (const auto& [at, bytes] : model) {
        used += bytes;
      }
      ASSERT_EQ(h.all.used(where), used);
    }
    for (const auto& [at, bytes] : model) {
      h.all.release(at);
    }
    EXPECT_EQ(h.all.used(where), 0U);
    EXPECT_EQ(h.all.largest_free(where), whole);
  }
}

TEST(heap, the_same_calls_give_the_same_offsets) {
  some_heap one;
  some_heap other;
  const std::uint64_t seed = seed_from_environment();
  random_generator noise(seed);
  std::vector<std::uint64_t> trail[2];
  for (int which = 0; which < 2; ++which) {
    heap& h = which == 0 ? one.all : other.all;
    random_generator random(seed + 1);
    std::vector<std::uint64_t> live;
    for (int step = 0; step < 3000; ++step) {
      if (live.empty() || random.with_probability(0.6)) {
        const std::uint64_t at = h.try_allocate(part::symmetric, random.below(9000));
        trail[which].push_back(at);
        if (at != 0) {
          live.push_back(at);
        }
      } else {
        const auto victim = live.begin() + static_cast<std::ptrdiff_t>(random.below(live.size()));
        h.release(*victim);
        live.erase(victim);
      }
      if (which == 1 && noise.with_probability(0.3)) {
        // What is local does not disturb what is symmetric.
        (void)h.try_allocate(part::local, noise.below(500));
      }
    }
  }
  EXPECT_EQ(trail[0], trail[1]);
}

// Where the C library's large blocks begin, and where the other ones do, loops would run slower.
TEST(heap, large_blocks_begin_in_turn_at_three_places_within_a_page) {
  some_heap h;
  for (const part where : {part::symmetric, part::local}) {
    (void)h.all.allocate(where, 100);  // nothing is aligned by chance
    for (const std::size_t wanted : {1024U, 2048U, 3072U, 1024U}) {
      EXPECT_EQ(h.all.allocate(where, 20000) % 4096, wanted);
    }
    EXPECT_EQ(h.all.allocate(where, 20000, 2048) % 2048, 0U);
    EXPECT_EQ(h.all.allocate(where, 1000) % 64, 0U);
  }
}

TEST(heap, a_large_block_takes_what_is_left_wherever_it_begins) {
  some_heap h;
  const std::size_t left = h.all.largest_free(part::symmetric);
  EXPECT_NE(h.all.try_allocate(part::symmetric, left), 0U);
  EXPECT_EQ(h.all.try_allocate(part::symmetric, 64), 0U);
}

TEST(heap, exhaustion_names_the_setting_and_what_is_needed) {
  some_heap h;
  (void)h.all.allocate(part::symmetric, 3 * mib);
  EXPECT_EQ(h.all.try_allocate(part::symmetric, 2 * mib), 0U);
  EXPECT_EQ(h.all.try_allocate(part::symmetric, SIZE_MAX), 0U);
  try {
    (void)h.all.allocate(part::symmetric, 2 * mib);
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::strstr(e.what(), "SINEW_RMA_HEAP=6M"), nullptr) << e.what();
    EXPECT_NE(std::strstr(e.what(), "4 MiB 3 are in use"), nullptr) << e.what();
  }
  try {
    (void)h.all.allocate(part::local, 3 * mib);
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::strstr(e.what(), "SINEW_RMA_LOCAL_HEAP=4M"), nullptr) << e.what();
  }
}

TEST(heap, what_is_not_allocated_cannot_be_released) {
  some_heap h;
  const std::uint64_t at = h.all.allocate(part::symmetric, 1000);
  EXPECT_THROW(h.all.release(at + 64), error);
  h.all.release(at);
  EXPECT_THROW(h.all.release(at), error);
  EXPECT_THROW(h.all.release(0), error);
}

TEST(heap, large_blocks_give_their_pages_back) {
  some_heap h({64 * mib, mib});
  const std::uint64_t at = h.all.allocate(part::symmetric, 32 * mib);
  const auto resident = [&] {
    std::vector<unsigned char> pages(32 * mib / 4096);
    EXPECT_EQ(::mincore(h.memory.base() + (at + 4095) / 4096 * 4096, 32 * mib - 4096, pages.data()),
              0);
    return std::count_if(pages.begin(), pages.end(), [](unsigned char c) { return c & 1; });
  };
  EXPECT_EQ(resident(), 0);  // reserved, not there
  std::memset(h.memory.base() + at, 1, 32 * mib);
  EXPECT_GT(resident(), 8000);
  h.all.release(at);
  EXPECT_LT(resident(), 10);
}

TEST(heap, sizes_that_cannot_be_laid_out_are_refused) {
  EXPECT_THROW(heap_shape(2, {std::size_t{1} << 44, mib}), error);
  EXPECT_THROW(heap_shape(most_ranks + 1, {mib, mib}), error);
  const heap_sizes by_default = default_heap_sizes(4);
  EXPECT_GE(by_default.symmetric, mib);
  EXPECT_EQ(by_default.symmetric % mib, 0U);
}

}  // namespace
}  // namespace sinew::rma
