// SPDX-License-Identifier: BSD-3-Clause
// Windows without handles: ranks as threads, on one node and on two, in memory that the window
// makes and in the program's own.
#include "sinew/window/memory.hpp"

#include <functional>
#include <memory>
#include <numeric>
#include <ostream>
#include <vector>

#include "sinew/coll/communicators.hpp"
#include "support/job.hpp"

namespace sinew::window {
namespace {

using core::threading;
using test::backend;
using test::member;
using placement = memory::placement;
constexpr int ranks = 4;
constexpr coll::op add{.kind = coll::op_kind::sum};

const layout::datatype& word() { return layout::of(layout::element::i64); }

struct way_to_run {
  const char* name;
  backend over;
  threading threads;
  int nodes;
  placement how;
};
std::ostream& operator<<(std::ostream& out, const way_to_run& w) { return out << w.name; }

/// One rank's view of a window of `words` for each rank.
struct opened {
  member& m;
  coll::participant at;
  memory& all;
  std::int64_t* own;

  [[nodiscard]] p2p::buffer words(void* base, std::size_t n) const { return {base, n, &word()}; }
  [[nodiscard]] place at_word(int rank, std::size_t i) const {
    return all.behind_base(rank, static_cast<std::int64_t>(8 * i));
  }
  /// Everything that was done before on any rank has been done for all.
  void meet() const {
    all.complete();
    EXPECT_EQ(coll::barrier(at), p2p::fault::none);
  }
  void lock(int rank, bool exclusively) const {
    test::poll_until(m.runtime, [&] { return all.try_lock(rank, exclusively); });
  }
};

class windows : public ::testing::TestWithParam<way_to_run> {
 protected:
  static void run(std::size_t words, const std::function<void(const opened&)>& body) {
    const way_to_run& way = GetParam();
    const rma::heap_sizes sizes{1 << 20, 1 << 20};
    const rma::heap_shape shape(ranks, sizes);
    const test::shared_memory heaps(shape.bytes * ranks);
    std::vector<int> node_of;
    for (int r = 0; r < ranks; ++r) {
      node_of.push_back(r * way.nodes / ranks);
    }
    const auto on_rank = [&](member& m) {
      rma::heap_memory where{.parts = {}, .sizes = sizes, .node_of = node_of};
      for (std::size_t r = 0; r < ranks; ++r) {
        const bool near = node_of[r] == node_of[static_cast<std::size_t>(m.rank)];
        where.parts.push_back(near ? heaps.base() + r * shape.bytes : nullptr);
      }
      rma::engine engine(m.runtime, where);
      rma::engine::attach(m.runtime, engine);
      {
        const coll::communicator_ref comm = coll::duplicate({m.engine, m.comm});
        const coll::participant at{m.engine, *comm};
        std::vector<std::int64_t> brought(words);
        const std::unique_ptr<memory> made =
            memory::make(at, way.how, {brought.data(), 8 * words, 8});
        void* const own = made->base_of(m.rank);
        const opened w{m, at, *made, static_cast<std::int64_t*>(own)};
        body(w);
        w.meet();
      }
      engine.sync_all();
    };
    test::run_job(ranks, way.over, way.threads, on_rank,
                  way.nodes == 1 ? std::vector<int>{} : node_of);
  }
};

TEST_P(windows, what_a_rank_writes_all_others_read) {
  run(16 * ranks, [](const opened& w) {
    const layout::datatype_ref every_second = layout::vector(4, 1, 16, word());
    const auto mine = static_cast<std::size_t>(w.m.rank);
    for (int r = 0; r < ranks; ++r) {
      std::vector<std::int64_t> data(4);
      std::iota(data.begin(), data.end(), 1000 * w.m.rank + 10 * r);
      ASSERT_TRUE(w.all.write(r, w.at_word(r, 16 * mine), w.words(data.data(), 4),
                              {nullptr, 1, every_second.get()}));
    }
    w.meet();
    for (std::size_t i = 0; i < 16 * ranks; ++i) {
      const auto by = static_cast<std::int64_t>(i / 16);
      const auto in = static_cast<std::int64_t>(i % 16);
      EXPECT_EQ(w.own[i],
                in < 8 && in % 2 == 0 ? 1000 * by + 10 * w.m.rank + in / 2 : std::int64_t{0});
    }
    for (int r = 0; r < ranks; ++r) {
      std::vector<std::int64_t> all(16 * ranks, -1);
      std::int64_t one = -1;
      ASSERT_TRUE(w.all.read_later(r, w.at_word(r, 0), w.words(all.data(), all.size()),
                                   w.words(nullptr, all.size())));
      ASSERT_TRUE(w.all.read(r, w.at_word(r, 34), w.words(&one, 1), w.words(nullptr, 1)));
      w.all.finish_gets();
      EXPECT_EQ(w.all.bringing(r), nullptr);
      EXPECT_EQ(one, 2000 + 10 * r + 1);
      for (int by = 0; by < ranks; ++by) {
        EXPECT_EQ(all[static_cast<std::size_t>(16 * by) + 6], 1000 * by + 10 * r + 3);
      }
    }
  });
}

TEST_P(windows, accumulates_and_swaps_exclude_each_other) {
  run(40, [](const opened& w) {
    constexpr int rounds = test::slow_build ? 20 : 200;
    const layout::datatype_ref gaps = layout::vector(3, 1, 16, word());
    const std::int64_t one[] = {1, 1, 1};
    const auto* const more = reinterpret_cast<const std::byte*>(one);
    for (int i = 0; i < rounds; ++i) {
      std::int64_t before[3] = {-1, -1, -1};
      ASSERT_TRUE(w.all.combine(0, w.at_word(0, 0), {nullptr, 1, gaps.get()}, add, more,
                                reinterpret_cast<std::byte*>(before)));
      ASSERT_TRUE(w.all.combine(0, w.at_word(0, 8), w.words(nullptr, 1), add, more, nullptr));
      w.all.finish_gets();
      EXPECT_TRUE(before[0] >= i && before[0] < rounds * ranks);
      EXPECT_TRUE(before[1] == before[0] && before[2] == before[0]) << "not as one";
      std::int64_t seen = 0;
      for (std::int64_t expected = -1; seen != expected;) {
        expected = seen;
        const std::int64_t next = expected + 1;
        ASSERT_TRUE(w.all.compare_swap(0, w.at_word(0, 9), word(), &next, &expected, &seen));
        w.all.finish_gets();
      }
    }
    w.meet();
    if (w.m.rank == 0) {
      for (const std::size_t i : {0, 2, 4, 8, 9}) {
        EXPECT_EQ(w.own[i], rounds * ranks) << i;
      }
      EXPECT_TRUE(w.own[1] == 0 && w.own[3] == 0);
    }
  });
}

TEST_P(windows, long_accumulates_go_in_pieces) {
  constexpr std::size_t words = 30'000;
  run(words, [](const opened& w) {
    std::vector<std::int64_t> more(words);
    std::iota(more.begin(), more.end(), 1);
    std::vector<std::int64_t> before(words, -1);
    const int to = (w.m.rank + 1) % ranks;
    const auto* const from = reinterpret_cast<const std::byte*>(more.data());
    ASSERT_TRUE(w.all.combine(to, w.at_word(to, 0), w.words(nullptr, words), add, from, nullptr));
    ASSERT_TRUE(w.all.combine(to, w.at_word(to, 0), w.words(nullptr, words), add, from,
                              reinterpret_cast<std::byte*>(before.data())));
    w.meet();
    EXPECT_EQ(before, more);
    for (std::size_t i = 0; i < words; ++i) {
      ASSERT_EQ(w.own[i], 2 * more[i]) << i;
    }
  });
}

TEST_P(windows, who_holds_the_lock_holds_it_alone) {
  run(1, [](const opened& w) {
    constexpr int rounds = test::slow_build ? 10 : 100;
    for (int i = 0; i < rounds; ++i) {
      w.lock(1, true);
      std::int64_t now = -1;
      ASSERT_TRUE(w.all.read(1, w.at_word(1, 0), w.words(&now, 1), w.words(nullptr, 1)));
      ++now;
      ASSERT_TRUE(w.all.write(1, w.at_word(1, 0), w.words(&now, 1), w.words(nullptr, 1)));
      w.all.unlock(1, true);
    }
    w.meet();
    if (w.m.rank == 1) {
      EXPECT_EQ(w.own[0], rounds * ranks);
    }
    w.lock(1, false);
    w.meet();  // all have it
    EXPECT_FALSE(w.all.try_lock(1, true));
    w.meet();
    w.all.unlock(1, false);
    w.meet();
    if (w.m.rank == 2) {
      EXPECT_TRUE(w.all.try_lock(1, true));
      EXPECT_FALSE(w.all.try_lock(1, false));
      w.all.unlock(1, true);
    }
  });
}

TEST_P(windows, attached_pieces_are_known_to_all) {
  run(0, [](const opened& w) {
    // Addresses that nobody uses. Each piece ends where the next one begins.
    constexpr std::uint64_t bytes = 4096;
    const std::uint64_t begin = std::uint64_t{1} << 20 << w.m.rank;
    const auto whole = [&](int rank, std::uint64_t pieces) {
      const std::uint64_t at = std::uint64_t{1} << 20 << rank;
      return w.all.has_attached(rank, at, at + pieces * bytes);
    };
    for (std::uint64_t i = 0; i < record::most_listed; ++i) {
      ASSERT_TRUE(w.all.attach(begin + i * bytes, bytes));
    }
    EXPECT_FALSE(w.all.attach(begin + bytes / 2, bytes));
    EXPECT_FALSE(w.all.detach(begin + bytes / 2));
    w.meet();
    for (int r = 0; r < ranks; ++r) {
      EXPECT_TRUE(whole(r, record::most_listed));
      EXPECT_FALSE(whole(r, record::most_listed + 1));
    }
    w.meet();
    ASSERT_TRUE(w.all.attach(begin + record::most_listed * bytes, bytes));  // not listed
    w.meet();
    for (int r = 0; r < ranks; ++r) {
      EXPECT_TRUE(whole(r, record::most_listed + 1));
    }
    w.meet();
    for (std::uint64_t i = 0; i <= record::most_listed; ++i) {
      ASSERT_TRUE(w.all.detach(begin + i * bytes));
    }
    w.meet();
    for (int r = 0; r < ranks; ++r) {
      EXPECT_FALSE(whole(r, 1));
    }
  });
}

// Memory that is brought only over shm, where the kernel copies it: ThreadSanitizer sees the same
// address on all ranks, but not that the locks, which each of them has mapped elsewhere, order
// them.
INSTANTIATE_TEST_SUITE_P(
    ways, windows,
    ::testing::Values(
        way_to_run{"inproc", backend::inproc, threading::one, 1, placement::separate},
        way_to_run{"shm_threads", backend::shm, threading::many, 1, placement::separate},
        way_to_run{"contiguous", backend::shm, threading::one, 1, placement::contiguous},
        way_to_run{"brought", backend::shm, threading::one, 1, placement::own},
        way_to_run{"nodes", backend::shm, threading::one, 2, placement::separate},
        way_to_run{"nodes_brought", backend::shm, threading::many, 2, placement::own},
        way_to_run{"each_a_node", backend::inproc, threading::one, 4, placement::separate}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinew::window
