// SPDX-License-Identifier: BSD-3-Clause
// Teams without messages: rounds that run ahead, collectives with every way that data may go, and
// operations under way at once, between threads and between processes.
#include "sinew/node/team.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/node/moving.hpp"
#include "sinew/node/operations.hpp"
#include "sinew/node/reducing.hpp"
#include "support/rma_job.hpp"

namespace sinew::node {
namespace {

using test::require;
using test::rma_member;

/// All ranks' ends of one team, each with its block.
struct mate {
  explicit mate(rma_member& m) : member(m) {
    std::vector<job_rank> ranks;
    for (int r = 0; r < m.size; ++r) {
      ranks.emplace_back(r);
    }
    own = std::make_unique<team>(m.rma, ranks, comm_rank{m.rank}, awaited);
    m.all.word[m.rank].store(own->make_block());
    m.meet();
    std::vector<std::uint64_t> blocks;
    for (int r = 0; r < m.size; ++r) {
      blocks.push_back(m.all.word[r].load());
    }
    own->join(blocks);
    own->note_readable(true);
    m.meet();
  }
  team* operator->() const { return own.get(); }
  team& operator*() const { return *own; }

  rma_member& member;
  std::atomic<comm_rank> awaited{-1};
  std::unique_ptr<team> own;
};

void expect_all_well(int ranks, const test::rma_setup& how,
                     const std::function<void(rma_member&)>& body) {
  EXPECT_EQ(test::rma_job(ranks, how).run(body), "");
}

constexpr test::rma_setup threads{};
constexpr test::rma_setup processes{.kind = test::ranks_as::processes};
constexpr test::rma_setup as_in_one_process{.over = test::backend::inproc,
                                            .threads = core::threading::many};
constexpr std::array<const test::rma_setup*, 3> ways = {&threads, &processes, &as_in_one_process};

/// What rank `r` says at `i` of message `number`.
std::uint8_t byte_of(int r, int number, std::size_t i) {
  return static_cast<std::uint8_t>(31 * r + 7 * number + 3 * static_cast<int>(i) +
                                   static_cast<int>(i >> 8));
}
std::vector<std::uint8_t> said(int r, int number, std::size_t bytes) {
  std::vector<std::uint8_t> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    all[i] = byte_of(r, number, i);
  }
  return all;
}
data bytes_of(std::vector<std::uint8_t>& v) {
  return {v.data(), v.size(), &layout::of(layout::element::byte)};
}

/// Inside a line, in the block, in pieces, and read where they are.
constexpr std::array<std::size_t, 8> sizes = {0, 1, 48, 49, 4096, 40'000, 100'000, 300'001};
constexpr lengths limits{.direct = 64 << 10, .direct_one_way = 128 << 10};

TEST(team, nobody_leaves_a_meeting_before_the_last_has_come) {
  for (const test::rma_setup* how : ways) {
    expect_all_well(5, *how, [](rma_member& m) {
      const mate t(m);
      for (int i = 0; i < 200; ++i) {
        m.all.word[8 + i % 2].fetch_add(1);
        if (i % 5 == m.rank) {
          std::this_thread::yield();
        }
        t->meet();
        require(m.all.word[8 + i % 2].load() == static_cast<std::uint64_t>(5 * (i / 2 + 1)),
                "a meeting ended early");
        t->meet();
      }
    });
  }
}

TEST(team, a_root_that_runs_ahead_overwrites_nothing_that_is_yet_to_be_read) {
  for (const test::rma_setup* how : ways) {
    expect_all_well(4, *how, [](rma_member& m) {
      const mate t(m);
      for (int number = 0; number < 400; ++number) {
        const std::size_t bytes = number % 3 == 0 ? 8 : 200;
        const int root = number / 100;
        std::vector<std::uint8_t> v =
            m.rank == root ? said(root, number, bytes) : std::vector<std::uint8_t>(bytes);
        require(bcast(*t, bytes_of(v), root, limits), "it does not fit");
        require(v == said(root, number, bytes), "a broadcast was overwritten");
        if (m.rank == 3 && number % 50 == 0) {
          ::usleep(2000);  // the root gets as far as it may
        }
      }
    });
  }
}

TEST(team, broadcasts_of_every_length) {
  for (const test::rma_setup* how : ways) {
    for (const int ranks : {2, 3}) {
      expect_all_well(ranks, *how, [](rma_member& m) {
        const mate t(m);
        for (int number = 0; number < 40; ++number) {
          const std::size_t bytes = sizes[static_cast<std::size_t>(number) % sizes.size()];
          const int root = number % m.size;
          std::vector<std::uint8_t> v =
              m.rank == root ? said(root, number, bytes) : std::vector<std::uint8_t>(bytes);
          require(bcast(*t, bytes_of(v), root, limits), "it does not fit");
          require(v == said(root, number, bytes), "wrong bytes: " + std::to_string(bytes));
        }
      });
    }
  }
}

TEST(team, what_is_too_long_is_cut_and_told) {
  expect_all_well(3, threads, [](rma_member& m) {
    const mate t(m);
    for (const std::size_t bytes : {std::size_t{48}, std::size_t{5000}, std::size_t{300'000}}) {
      std::vector<std::uint8_t> v =
          m.rank == 0 ? said(0, 1, bytes) : std::vector<std::uint8_t>(bytes - 5, 0xee);
      v.push_back(0xee);
      const data d{v.data(), v.size() - 1, &layout::of(layout::element::byte)};
      require(bcast(*t, d, 0, limits) == (m.rank == 0), "nobody was told");
      require(v.back() == 0xee, "written behind the end");
      require(byte_of(0, 1, v.size() - 2) == v[v.size() - 2], "less than fits");
    }
  });
}

TEST(team, gathers_and_scatters_of_every_length) {
  for (const test::rma_setup* how : ways) {
    for (const int ranks : {2, 4}) {
      expect_all_well(ranks, *how, [](rma_member& m) {
        const mate t(m);
        for (int number = 0; number < 24; ++number) {
          const std::size_t bytes = sizes[static_cast<std::size_t>(number) % sizes.size()];
          const int root = number % m.size;
          std::vector<std::vector<std::uint8_t>> all(static_cast<std::size_t>(m.size),
                                                     std::vector<std::uint8_t>(bytes));
          const auto of = [&](int r) { return bytes_of(all[static_cast<std::size_t>(r)]); };
          std::vector<std::uint8_t> mine = said(m.rank, number, bytes);
          require(gather(*t, bytes_of(mine), root, limits, of), "it does not fit");
          for (int r = 0; m.rank == root && r < m.size; ++r) {
            require(r == root || all[static_cast<std::size_t>(r)] == said(r, number, bytes),
                    "gathered wrong bytes: " + std::to_string(bytes));
          }
          for (int r = 0; r < m.size; ++r) {
            all[static_cast<std::size_t>(r)] = said(r, -number, bytes);
          }
          std::vector<std::uint8_t> got(bytes);
          require(scatter(*t, bytes_of(got), root, limits, of), "it does not fit");
          require(m.rank == root || got == said(m.rank, -number, bytes),
                  "scattered wrong bytes: " + std::to_string(bytes));
        }
      });
    }
  }
}

TEST(team, all_to_all_of_every_length) {
  for (const test::rma_setup* how : ways) {
    expect_all_well(4, *how, [](rma_member& m) {
      const mate t(m);
      for (int number = 0; number < 24; ++number) {
        const std::size_t bytes = sizes[static_cast<std::size_t>(number) % sizes.size()];
        std::vector<std::vector<std::uint8_t>> out, in;
        for (int r = 0; r < m.size; ++r) {
          out.push_back(said(m.rank, number + r, bytes));
          in.emplace_back(bytes);
        }
        const auto to = [&](int r) { return bytes_of(out[static_cast<std::size_t>(r)]); };
        const auto from = [&](int r) { return bytes_of(in[static_cast<std::size_t>(r)]); };
        require(alltoall(*t, limits, to, from), "it does not fit");
        for (int r = 0; r < m.size; ++r) {
          require(r == m.rank || in[static_cast<std::size_t>(r)] == said(r, number + m.rank, bytes),
                  "all to all, wrong bytes: " + std::to_string(bytes));
        }
        std::vector<std::uint8_t> mine = said(m.rank, number, bytes);
        require(allgather(*t, bytes_of(mine), limits, from), "it does not fit");
        for (int r = 0; r < m.size; ++r) {
          require(r == m.rank || in[static_cast<std::size_t>(r)] == said(r, number, bytes),
                  "gathered by all, wrong bytes: " + std::to_string(bytes));
        }
      }
    });
  }
}

// --- reductions: affine maps x -> a x + b modulo 2^32, whose composition does not commute ---

struct affine {
  std::uint32_t a = 1, b = 0;
  bool operator==(const affine&) const = default;
};
affine after(const affine& lower, const affine& higher) {  // first the lower rank's
  return {lower.a * higher.a, lower.b * higher.a + higher.b};
}
void compose(const void* /*context*/, const void* lower, void* inout, std::size_t count) {
  const auto* const l = static_cast<const affine*>(lower);
  auto* const h = static_cast<affine*>(inout);
  for (std::size_t i = 0; i < count; ++i) {
    h[i] = after(l[i], h[i]);
  }
}
constexpr combiner composition{compose, nullptr, sizeof(affine)};

affine given(int r, int number, std::size_t i) {
  return {static_cast<std::uint32_t>(2 * r + 3 + number), static_cast<std::uint32_t>(i) + 5};
}
std::vector<affine> given_by(int r, int number, std::size_t count) {
  std::vector<affine> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = given(r, number, i);
  }
  return all;
}
affine total(int ranks, int number, std::size_t i) {
  affine sum = given(0, number, i);
  for (int r = 1; r < ranks; ++r) {
    sum = after(sum, given(r, number, i));
  }
  return sum;
}

TEST(team, reductions_of_every_length_take_the_ranks_in_their_order) {
  constexpr std::array<std::size_t, 7> counts = {1, 5, 6, 700, 5000, 12'345, 40'000};
  constexpr reduction_lengths parts{.shared = 1024, .direct = 64 << 10};
  for (const test::rma_setup* how : ways) {
    for (const int ranks : {2, 3, 5}) {
      expect_all_well(ranks, *how, [&](rma_member& m) {
        const mate t(m);
        for (int number = 0; number < 14; ++number) {
          const std::size_t count = counts[static_cast<std::size_t>(number) % counts.size()];
          const std::vector<affine> mine = given_by(m.rank, number, count);
          std::vector<affine> got(count);
          const auto is_right = [&](std::size_t first, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) {
              if (got[i] != total(m.size, number, first + i)) {
                return false;
              }
            }
            return true;
          };
          require(allreduce(*t, {mine.data(), got.data(), count}, composition, parts), "lengths");
          require(is_right(0, count), "allreduce of " + std::to_string(count));
          const int root = number % m.size;
          got.assign(count, {});
          require(reduce(*t, {mine.data(), got.data(), count}, composition, root, parts),
                  "lengths");
          require(m.rank != root || is_right(0, count), "reduce of " + std::to_string(count));
          got = mine;  // in its place
          require(allreduce(*t, {got.data(), got.data(), count}, composition, parts), "lengths");
          require(is_right(0, count), "allreduce in its place of " + std::to_string(count));
          std::vector<std::size_t> starts;
          for (int r = 0; r <= m.size; ++r) {
            starts.push_back(count * static_cast<std::size_t>(r * r) /
                             static_cast<std::size_t>(m.size * m.size));
          }
          const std::size_t first = starts[static_cast<std::size_t>(m.rank)];
          const std::size_t own = starts[static_cast<std::size_t>(m.rank) + 1] - first;
          got.assign(count, {});
          require(reduce_scatter(*t, mine.data(), got.data(), starts, composition, parts),
                  "lengths");
          require(is_right(first, own), "reduce_scatter of " + std::to_string(count));
        }
      });
    }
  }
}

TEST(team, lengths_that_differ_are_told_to_all) {
  constexpr reduction_lengths parts{.shared = 1024, .direct = 64 << 10};
  expect_all_well(3, threads, [&](rma_member& m) {
    const mate t(m);
    const std::vector<affine> mine = given_by(m.rank, 0, 20);
    std::vector<affine> got(20);
    const std::size_t count = m.rank == 1 ? 19 : 20;
    require(!allreduce(*t, {mine.data(), got.data(), count}, composition, parts), "nobody saw it");
    t->meet();  // and all go on
    require(allreduce(*t, {mine.data(), got.data(), 20}, composition, parts), "it stays wrong");
    require(got[7] == total(3, 0, 7), "wrong afterwards");
  });
}

// --- operations ---

/// Until `ready`, while others make progress.
template <class Ready>
void await(rma_member& m, Ready ready) {
  m.until(ready);
}

TEST(operations, more_than_there_are_slots_end_in_any_order) {
  for (const test::rma_setup* how : ways) {
    expect_all_well(3, *how, [](rma_member& m) {
      const mate t(m);
      operations all(*t);
      std::vector<job_rank> asleep;
      constexpr int count = 3 * static_cast<int>(operations::depth);
      std::vector<std::uint64_t> numbers(count);
      std::vector<bool> posted(count), ended(count);
      for (std::uint64_t& n : numbers) {
        n = all.next();
      }
      const auto bytes = [](int k) { return static_cast<std::size_t>(k * 37) % operations::room; };
      int left = count;
      await(m, [&] {
        for (int k = 0; k < count; ++k) {
          const auto at = static_cast<std::size_t>(m.rank % 2 == 0 ? k : count - 1 - k);
          const int number = static_cast<int>(at);
          const std::uint64_t n = numbers[at];
          if (ended[at] || !all.is_free(n)) {
            continue;
          }
          if (!posted[at]) {
            const std::vector<std::uint8_t> mine = said(m.rank, number, bytes(number));
            std::memcpy(all.place(n, mine.size()), mine.data(), mine.size());
            all.publish(n, mine.size(), -1, asleep);
            posted[at] = true;
          }
          bool there = true;
          for (int r = 0; r < m.size; ++r) {
            there = there && (r == m.rank || all.from(n, r) != nullptr);
          }
          if (!there) {
            continue;
          }
          for (int r = 0; r < m.size; ++r) {
            if (r == m.rank) {
              continue;
            }
            const line& l = *all.from(n, r);
            const std::vector<std::uint8_t> wanted = said(r, number, bytes(number));
            require(l.bytes() == wanted.size() &&
                        std::memcmp(all.data_of(n, r, l), wanted.data(), wanted.size()) == 0,
                    "operation " + std::to_string(number) + " was overwritten");
          }
          all.end(n, asleep);
          ended[at] = true;
          --left;
        }
        return left == 0;
      });
    });
  }
}

TEST(operations, what_is_shown_stays_until_all_have_ended) {
  for (const test::rma_setup* how : ways) {
    expect_all_well(3, *how, [](rma_member& m) {
      const mate t(m);
      operations all(*t);
      all.allow_showing();
      std::vector<job_rank> asleep;
      constexpr std::size_t bytes = 100'000;
      for (int number = 0; number < 12; ++number) {
        const std::uint64_t n = all.next();
        const std::uint64_t turn = all.next_turn();
        std::vector<std::uint8_t> own = said(m.rank, number, bytes);
        const bool placed = number % 2 == 0;
        std::byte* place = nullptr;
        await(m, [&] {
          place = all.is_free(n) ? all.long_place(turn, n, bytes) : nullptr;
          return place != nullptr;
        });
        std::memcpy(place, own.data(), bytes);
        all.show(n, {placed ? static_cast<const void*>(place) : own.data(), bytes, 1}, -1, asleep);
        for (int r = 0; r < m.size; ++r) {
          if (r == m.rank) {
            continue;
          }
          await(m, [&] { return all.from(n, r) != nullptr; });
          const line& l = *all.from(n, r);
          std::vector<std::uint8_t> got(bytes / 2);
          require(operations::is_shown(l) && l.bytes() == bytes, "it is not shown");
          require(!placed || all.in_long_place(r, l, 0, bytes) != nullptr,
                  "a place is not reached");
          require(all.read(r, l, bytes / 4, got.data(), got.size()), "its process has ended");
          const std::vector<std::uint8_t> wanted = said(r, number, bytes);
          require(std::equal(got.begin(), got.end(), wanted.begin() + bytes / 4), "wrong bytes");
        }
        all.end(n, asleep);
        for (int r = 0; r < m.size && !placed; ++r) {
          await(m, [&] { return all.has_ended(n, r); });
        }
        std::fill(own.begin(), own.end(), 0);  // nobody reads it any more, or it lies in the place
      }
      m.meet();
    });
  }
}

}  // namespace
}  // namespace sinew::node
