// SPDX-License-Identifier: BSD-3-Clause
// Hot operations allocate nothing; and a heap whose bookkeeping lacks memory is as it was before.
#include <map>

#include "rma/fixture.hpp"
#include "sinew/rma/arena.hpp"
#include "sinew/rma/lock.hpp"
#include "support/allocations.hpp"

namespace sinew::rma {
namespace {

class rma_allocations : public rma_test {};

TEST_P(rma_allocations, hot_operations_make_none) {
  run(2, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 8192);
    lock_table locks(m.rma);
    std::vector<std::byte> data(4096);
    const auto work = [&] {
      const place there{m.next(), box + 1024};
      const axis other{100, 8, 16};
      for (int k = 0; k < 100; ++k) {
        m.rma.put(there, data.data(), 8);
        m.rma.put(there, data.data(), 2000);
        m.rma.get(data.data(), there, 2000);
        m.rma.put_section(there, data.data(), 8, {&other, 1});
        m.rma.fetch_add<std::uint64_t>({m.next(), box}, 1);
        m.rma.accumulate(there, data.data(), 10, element::i64, combine::sum);
        m.rma.fence();
        m.rma.flush(m.next());
        m.rma.sync_all();
        m.rma.signal(m.next());
        m.rma.await(m.next());
        m.rma.post({m.next(), box + 8});
        m.rma.take(box + 8);
        (void)locks.acquire({0, box + 64});
        (void)locks.release({0, box + 64});
      }
    };
    work();
    const long before = test::allocations;
    work();
    const long made = test::allocations - before;
    // Requests to other nodes are not hot: they cost a message and its answer anyway.
    require(made == 0 || !m.rma.maps_all(),
            std::to_string(made) + " allocations in hot operations");
  });
}

/// An arena call in which the nth allocation fails; whether it did.
template <class Call>
bool fails(long n, Call call) {
  test::fails_at = n;
  bool failed = false;
  try {
    call();
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  test::fails_at = 0;
  return failed;
}

TEST(arena, a_call_that_lacks_memory_changes_nothing) {
  constexpr std::uint64_t begin = 4096;
  constexpr std::uint64_t bytes = std::uint64_t{4} << 20;
  arena all(begin, bytes);
  random_generator random(seed());
  std::map<std::uint64_t, std::uint64_t> model;
  std::uint64_t used = 0;
  int failures = 0;
  for (int step = 0; step < 20000; ++step) {
    const auto n = static_cast<long>(random.below(5));  // 0: none fails
    const std::uint64_t largest = all.largest_free();
    bool failed = false;
    if (model.empty() || random.with_probability(0.55)) {
      const std::uint64_t wanted = 1 + random.below(std::size_t{1} << random.below(16));
      const std::uint64_t alignment = std::uint64_t{1} << random.below(14);
      std::uint64_t at = 0;
      failed = fails(n, [&] { at = all.allocate(wanted, alignment); });
      ASSERT_FALSE(failed && at != 0);
      if (at != 0) {
        model.emplace(at, all.bytes_of(at));
        used += all.bytes_of(at);
      }
    } else {
      auto victim = model.lower_bound(random.below(bytes));
      victim = victim == model.end() ? model.begin() : victim;
      failed = fails(n, [&] { all.release(victim->first); });
      if (!failed) {
        used -= victim->second;
        model.erase(victim);
      }
    }
    ASSERT_EQ(all.used(), used);
    ASSERT_TRUE(!failed || all.largest_free() == largest);
    failures += failed ? 1 : 0;
  }
  EXPECT_GT(failures, 100);
  for (const auto& [at, size] : model) {
    ASSERT_EQ(all.release(at), size);
  }
  EXPECT_EQ(all.largest_free(), bytes);
}

TEST(arena, small_blocks_at_the_end_leave_the_rest_in_one_piece) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  arena all(4096, 64 * mib);
  std::vector<std::uint64_t> large;
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(all.allocate_high(300, 1), 0u);
    large.push_back(all.allocate(20 * mib, 64));
    EXPECT_NE(large.back(), 0u);
  }
  for (const std::uint64_t at : large) {
    all.release(at);
  }
  EXPECT_NE(all.allocate(62 * mib, 64), 0u);
  const std::uint64_t aligned = all.allocate_high(4096, 4096);
  EXPECT_TRUE(aligned != 0 && aligned % 4096 == 0);
}

TEST(arena, random_claims_and_cuts_agree_with_a_map_of_grains) {
  constexpr std::uint64_t begin = 4096;
  constexpr std::size_t grains = 200;
  arena all(begin, grains * arena::grain);
  random_generator random(seed());
  std::vector<int> owner(grains, 0);  // by grain: its block, or 0
  int next = 1;
  const auto offset = [](std::size_t g) { return begin + g * arena::grain; };
  for (int step = 0; step < 5000; ++step) {
    const std::size_t first = random.below(grains);
    const std::size_t count = 1 + random.below(std::min<std::size_t>(20, grains - first));
    const auto from = owner.begin() + static_cast<std::ptrdiff_t>(first);
    const auto to = from + static_cast<std::ptrdiff_t>(count);
    if (random.below(3) != 0) {
      const bool is_free = std::all_of(from, to, [](int o) { return o == 0; });
      ASSERT_EQ(all.claim({offset(first), count * arena::grain}), is_free);
      if (is_free) {
        std::fill(from, to, next++);
      }
    } else if (std::none_of(from, to, [](int o) { return o == 0; })) {
      // What is cut off at either end is a block of its own.
      const int last = *(to - 1);
      all.recut({offset(first), count * arena::grain});
      for (auto g = to; g != owner.end() && *g == last; ++g) {
        *g = next;
      }
      ++next;
      std::fill(from, to, next++);
      ASSERT_EQ(all.bytes_of(offset(first)), count * arena::grain);
    } else if (owner[first] != 0 && (first == 0 || owner[first - 1] != owner[first])) {
      const int block = owner[first];
      const auto size = std::count(owner.begin(), owner.end(), block);
      ASSERT_EQ(all.release(offset(first)), static_cast<std::size_t>(size) * arena::grain);
      std::fill(from, from + size, 0);
    }
    std::size_t free = 0;
    for (const arena::piece& p : all.free_pieces()) {
      free += p.bytes / arena::grain;
    }
    ASSERT_EQ(free, static_cast<std::size_t>(std::count(owner.begin(), owner.end(), 0)));
    ASSERT_EQ(all.used(), (grains - free) * arena::grain);
  }
}

INSTANTIATE_TEST_SUITE_P(ways, rma_allocations, every_way,
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinew::rma
