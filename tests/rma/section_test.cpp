// SPDX-License-Identifier: BSD-3-Clause
// Strided and indexed transfers and transfers to memory outside of heaps, against a model.
#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <thread>

#include "rma/fixture.hpp"

namespace sinew::rma {
namespace {

class rma_sections : public rma_test {};

/// A random section inside an array of `room` bytes on each side; far elements do not overlap.
struct random_section {
  std::size_t element;
  std::vector<axis> axes;
  std::vector<std::vector<std::int64_t>> lists;
  std::size_t near_begin = 0;
  std::size_t far_begin = 0;
  std::size_t near_room;
  std::size_t far_room;

  random_section(random_generator& random, bool small) {
    constexpr std::size_t sizes[] = {1, 2, 4, 8, 16, 3, 24, 100};
    element = sizes[random.below(8)];
    near_room = far_room = element;
    const std::size_t depth = random.below(small ? 3 : 5);
    lists.reserve(2 * depth);
    for (std::size_t d = 0; d < depth; ++d) {
      axis a;
      a.count = random.with_probability(0.05) ? random.below(2) : 1 + random.below(small ? 12 : 7);
      near_begin += side(random, a.count, near_room, a.near_stride, a.near_index);
      far_begin += side(random, a.count, far_room, a.far_stride, a.far_index);
      axes.push_back(a);
    }
  }

  /// Chooses stride and index list so that the axis' elements, each `room` long, do not overlap.
  /// Returns by how much the beginning moves.
  std::size_t side(random_generator& random, std::size_t count, std::size_t& room,
                   std::ptrdiff_t& stride, const std::int64_t*& index) {
    const std::size_t gap = random.with_probability(0.5) ? 0 : random.below(3) * element;
    const std::size_t step = room + gap;
    stride = static_cast<std::ptrdiff_t>(step);
    std::size_t positions = count;
    if (random.with_probability(0.3)) {
      positions = count * 2;
      std::vector<std::int64_t> all(positions);
      for (std::size_t i = 0; i < positions; ++i) {
        all[i] = static_cast<std::int64_t>(i);
      }
      for (std::size_t i = positions; i > 1; --i) {
        std::swap(all[i - 1], all[random.below(i)]);
      }
      lists.push_back(std::move(all));
      index = lists.back().data();
    }
    std::size_t moved = 0;
    if (positions != 0 && random.with_probability(0.25)) {
      moved = step * (positions - 1);
      stride = -stride;
    }
    room += step * (positions == 0 ? 0 : positions - 1);
    return moved;
  }

  template <class Each>
  void each(Each one) const {
    std::vector<std::size_t> at(axes.size(), 0);
    if (std::any_of(axes.begin(), axes.end(), [](const axis& a) { return a.count == 0; })) {
      return;
    }
    for (;;) {
      auto near = static_cast<std::ptrdiff_t>(near_begin);
      auto far = static_cast<std::ptrdiff_t>(far_begin);
      for (std::size_t d = 0; d < axes.size(); ++d) {
        const axis& a = axes[d];
        const auto i = static_cast<std::ptrdiff_t>(at[d]);
        near += (a.near_index != nullptr ? a.near_index[at[d]] : i) * a.near_stride;
        far += (a.far_index != nullptr ? a.far_index[at[d]] : i) * a.far_stride;
      }
      one(static_cast<std::size_t>(near), static_cast<std::size_t>(far));
      std::size_t d = 0;
      while (d < axes.size() && ++at[d] == axes[d].count) {
        at[d++] = 0;
      }
      if (d == axes.size()) {
        return;
      }
    }
  }
};

/// Moves one random section out and one in, and compares with the model. `far_memory` is this
/// rank's own part of the game, written by the previous rank.
template <class Put, class Get>
void one_round(rma_member& m, random_generator& random, std::byte* far_memory, bool small, Put put,
               Get get) {
  const random_section s(random, small);
  std::memset(far_memory, 0x11, s.far_room);
  std::vector<std::byte> near = patterned(s.near_room, static_cast<std::uint64_t>(m.rank));
  m.meet();
  put(near.data() + s.near_begin, s);
  m.rma.flush_all();
  m.meet();
  std::vector<std::byte> wanted(s.far_room, std::byte{0x11});
  const auto theirs = patterned(s.near_room, m.previous().index());
  s.each([&](std::size_t n, std::size_t f) {
    std::memcpy(wanted.data() + f, theirs.data() + n, s.element);
  });
  require(same(far_memory, wanted.data(), s.far_room), "a put section is wrong");
  m.meet();
  const auto far_pattern = patterned(s.far_room, 77 + static_cast<std::uint64_t>(m.rank));
  std::memcpy(far_memory, far_pattern.data(), s.far_room);
  m.meet();
  std::fill(near.begin(), near.end(), std::byte{0x22});
  get(near.data() + s.near_begin, s);
  std::vector<std::byte> wanted_near(s.near_room, std::byte{0x22});
  const auto source = patterned(s.far_room, 77 + m.next().index());
  s.each([&](std::size_t n, std::size_t f) {
    std::memcpy(wanted_near.data() + n, source.data() + f, s.element);
  });
  require(near == wanted_near, "a got section is wrong");
  m.meet();
}

TEST_P(rma_sections, of_heaps_follow_the_model) {
  run(2,
      [](rma_member& m) {
        random_generator random = common_random();
        const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 96 << 20);
        for (int k = 0; k < (slow_build ? 40 : 200); ++k) {
          one_round(
              m, random, m.rma.at({job_rank{m.rank}, box}), k % 2 == 0,
              [&](const std::byte* near, const random_section& s) {
                m.rma.put_section({m.next(), box + s.far_begin}, near, s.element, s.axes);
              },
              [&](std::byte* near, const random_section& s) {
                m.rma.get_section(near, {m.next(), box + s.far_begin}, s.element, s.axes);
              });
        }
      },
      {128 << 20, 1 << 20});
}

TEST_P(rma_sections, outside_of_heaps_follow_the_model) {
  run(3, [](rma_member& m) {
    random_generator random = common_random();
    std::vector<std::byte> mine(8 << 20);
    m.all.word[m.rank].store(address_of(mine.data()));
    m.meet();
    const std::uint64_t theirs = m.all.word[m.next().index()].load();
    for (int k = 0; k < (slow_build ? 20 : 100); ++k) {
      one_round(
          m, random, mine.data(), true,
          [&](const std::byte* near, const random_section& s) {
            m.rma.put_section(outside::of(m.next(), theirs + s.far_begin), near, s.element, s.axes);
          },
          [&](std::byte* near, const random_section& s) {
            m.rma.get_section(near, outside::of(m.next(), theirs + s.far_begin), s.element, s.axes);
          });
    }
  });
}

TEST_P(rma_sections, outside_addresses_in_a_heap_are_reached_too) {
  run(2, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::local, 4096);
    std::byte* mine = m.rma.at({job_rank{m.rank}, box});
    m.all.word[m.rank].store(address_of(mine));
    m.meet();
    const outside theirs = outside::of(m.next(), m.all.word[m.next().index()].load());
    const axis every_other{16, 8, 16};
    const auto data = patterned(128, static_cast<std::uint64_t>(m.rank));
    m.rma.put_section(theirs, data.data(), 8, {&every_other, 1});
    std::vector<std::byte> back(128);
    m.rma.get_section(back.data(), theirs, 8, {&every_other, 1});
    require(back == data, "a section through an address is wrong");
    const std::uint64_t one = 1;
    m.rma.accumulate(outside::of(m.next(), theirs.address + 1024), &one, 1, element::u64,
                     combine::sum);
    m.rma.flush(m.next());
    m.meet();
    require(m.rma.load<std::uint64_t>({job_rank{m.rank}, box + 1024}) == 1, "a sum went elsewhere");
  });
}

TEST_P(rma_sections, outside_puts_are_there_after_flush_and_a_signal) {
  run(2, [](rma_member& m) {
    std::vector<std::byte> mine(3 << 20);
    m.all.word[m.rank].store(address_of(mine.data()));
    m.meet();
    random_generator random = common_random();
    for (std::uint64_t k = 0; k < (slow_build ? 20U : 100U); ++k) {
      const std::size_t n = random.below(std::size_t{1} << random.below(22));
      const std::size_t at = random.below(100);
      const outside there = outside::of(m.next(), m.all.word[m.next().index()].load() + at);
      const auto data = patterned(n, k + static_cast<std::uint64_t>(m.rank));
      m.rma.put(there, data.data(), n);
      std::vector<std::byte> back(n);
      m.rma.get(back.data(), there, n);
      require(back == data, "a get misses the put before it");
      if (k % 2 == 0) {
        m.rma.flush(m.next());
      } else {
        m.rma.fence();
      }
      m.rma.signal(m.next());
      m.rma.await(m.next());
      const auto theirs = patterned(n, k + m.next().index());
      require(same(mine.data() + at, theirs.data(), n), "data was not there");
      m.rma.signal(m.next());
      m.rma.await(m.next());
    }
  });
}

/// Whole pages of this rank's own, outside of its heap.
struct own_pages {
  static constexpr std::size_t count = 40;  // more than are kept at a time
  static constexpr std::size_t words = 512;
  struct alignas(4096) page {
    std::array<std::uint64_t, words> word;
  };
  std::vector<page> pages{count};

  void fill(std::uint64_t salt) {
    for (std::size_t p = 0; p < count; ++p) {
      for (std::size_t i = 0; i < words; ++i) {
        pages[p].word[i] = value(p, i, salt);
      }
    }
  }
  static std::uint64_t value(std::size_t p, std::size_t i, std::uint64_t salt) {
    return (salt << 32) + p * words + i;
  }
};

/// Where the next rank has that word.
outside word_of_next(rma_member& m, std::size_t page, std::size_t i) {
  const std::uint64_t at = (page * own_pages::words + i) * 8;
  return outside::of(m.next(), m.all.word[m.next().index()].load() + at);
}

/// Some words of the next rank, most of them in a few pages, hold what they should.
void look_ahead(rma_member& m, random_generator& random, std::uint64_t salt) {
  for (int k = 0; k < 200; ++k) {
    const std::size_t p = random.below(1 + random.below(own_pages::count));
    const std::size_t i = random.below(own_pages::words);
    std::uint64_t seen = 0;
    m.rma.get_ahead(&seen, word_of_next(m, p, i), 8);
    require(seen == own_pages::value(p, i, salt), "got ahead of what there is");
  }
}

// Nobody changes a rank's pages but itself between the meetings, or, after those, the other rank.
TEST_P(rma_sections, getting_ahead_sees_what_was_there_at_the_last_fence_and_own_puts) {
  run(2, [](rma_member& m) {
    own_pages mine;
    random_generator random = own_random(m);
    m.all.word[m.rank].store(address_of(mine.pages.data()));
    for (std::uint64_t salt = 1; salt <= 6; ++salt) {
      mine.fill(salt);
      m.meet();
      if (salt % 2 == 0) {
        m.rma.fence();
      } else {
        m.rma.flush_all();
      }
      look_ahead(m, random, salt);
      const std::size_t p = random.below(own_pages::count);
      const outside there = word_of_next(m, p, 7);
      std::uint64_t seen = 0;
      m.rma.get_ahead(&seen, there, 8);
      const std::uint64_t put = seen + 1;
      m.rma.put(there, &put, 8);
      m.rma.get_ahead(&seen, there, 8);
      require(seen == put, "an own put is not seen");
      if (GetParam().kind == ranks_as::threads) {
        // So soon after that the copy is still good for all but a fence.
        *reinterpret_cast<std::uint64_t*>(there.address) = put + 1;
        m.rma.fence();
        m.rma.get_ahead(&seen, there, 8);
        require(seen == put + 1, "a fence does not end the segment");
      }
      m.rma.flush_all();
      m.meet();
    }
  });
}

TEST_P(rma_sections, threads_of_one_rank_get_ahead) {
  if (GetParam().threads == threading::one) {
    GTEST_SKIP() << "needs a threaded runtime";
  }
  run(2, [](rma_member& m) {
    own_pages mine;
    own_pages slots;
    m.all.word[m.rank].store(address_of(mine.pages.data()));
    m.all.word[m.rank + 8].store(address_of(slots.pages.data()));
    mine.fill(1);
    m.meet();
    const bool by_kernel = GetParam().over == backend::shm;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        random_generator random(seed() + 10 * t + static_cast<std::uint64_t>(m.rank));
        try {
          for (int k = 0; k < 5; ++k) {
            m.rma.fence();  // drops the copies that the others may be using
            look_ahead(m, random, 1);
            // The slots of all threads are in one page, which the others copy meanwhile: by the
            // kernel, else ThreadSanitizer would see a race.
            const outside slot =
                outside::of(m.next(), m.all.word[m.next().value() + 8].load() + 8 * t);
            for (std::uint64_t put = 1; by_kernel && put <= 200; ++put) {
              m.rma.put(slot, &put, 8);
              std::uint64_t seen = 0;
              m.rma.get_ahead(&seen, slot, 8);
              require(seen == put, "an own put is not seen");
            }
          }
        } catch (const std::exception&) {
          ++wrong;
        }
      });
    }
    for (auto& t : threads) {
      t.join();
    }
    require(wrong == 0, "a thread got something else");
    m.meet();  // the other rank may still read
  });
}

TEST_P(rma_sections, outside_accumulate_is_atomic) {
  run(3, [](rma_member& m) {
    std::vector<double> sums(20, 0);
    std::vector<std::uint32_t> least(20, ~0U);
    m.all.word[m.rank].store(address_of(sums.data()));
    m.all.word[m.rank + 8].store(address_of(least.data()));
    m.meet();
    const int rounds = slow_build ? 5 : 20;
    for (int k = 0; k < rounds; ++k) {
      const std::vector<double> halves(20, 0.5);
      m.rma.accumulate(outside::of(0, m.all.word[0].load()), halves.data(), 20, element::f64,
                       combine::sum);
      const std::vector<std::uint32_t> value(20, static_cast<std::uint32_t>(100 - k + m.rank));
      std::vector<std::uint32_t> before(20);
      m.rma.accumulate(outside::of(0, m.all.word[8].load()), value.data(), 20, element::u32,
                       combine::min, before.data());
      require(before[3] >= static_cast<std::uint32_t>(100 - rounds), "before is wrong");
    }
    m.meet();
    if (m.rank == 0) {
      require(sums == std::vector<double>(20, 0.5 * 3 * rounds), "a sum is wrong");
      require(least == std::vector<std::uint32_t>(20, static_cast<std::uint32_t>(101 - rounds)),
              "a minimum is wrong");
    }
    m.meet();
  });
}

/// Runs of bytes that do not overlap there, some of them at equal distances, some long; `room`
/// bytes on each side.
std::vector<fabric::piece> random_pieces(random_generator& random, std::byte* near,
                                         std::uint64_t there, std::size_t room) {
  std::vector<fabric::piece> pieces;
  std::size_t from = 0;
  std::size_t to = random.below(100);
  while (pieces.size() < 300) {
    const std::size_t bytes = 1 + random.below(random.with_probability(0.05) ? 30'000 : 40);
    const std::size_t near_gap = random.below(3) * random.below(9);
    const std::size_t far_gap = random.below(3) * random.below(9);
    for (std::size_t n = 1 + random.below(5); n != 0; --n) {
      if (from + bytes > room || to + bytes > room) {
        return pieces;
      }
      pieces.push_back({near + from, there + to, bytes});
      from += bytes + near_gap;
      to += bytes + far_gap;
    }
  }
  return pieces;
}

TEST_P(rma_sections, pieces_follow_the_model) {
  run(3, [](rma_member& m) {
    constexpr std::size_t room = 200'000;
    std::vector<std::byte> mine(room);
    m.all.word[m.rank].store(address_of(mine.data()));
    m.meet();
    const std::uint64_t theirs = m.all.word[m.next().index()].load();
    random_generator random = common_random();  // the previous rank has the same pieces
    for (int k = 0; k < (slow_build ? 10 : 50); ++k) {
      std::vector<std::byte> near = patterned(room, static_cast<std::uint64_t>(m.rank));
      const auto pieces = random_pieces(random, near.data(), theirs, room);
      std::fill(mine.begin(), mine.end(), std::byte{0x11});
      m.meet();
      m.rma.put_pieces(m.next(), pieces);
      m.rma.flush(m.next());
      m.meet();
      std::vector<std::byte> wanted(room, std::byte{0x11});
      const auto source = patterned(room, m.previous().index());
      std::vector<std::byte> wanted_near(room, std::byte{0x22});
      const auto far_pattern = patterned(room, 77 + m.next().index());
      for (const fabric::piece& p : pieces) {
        const auto n = static_cast<std::size_t>(static_cast<std::byte*>(p.local) - near.data());
        std::memcpy(wanted.data() + (p.remote - theirs), source.data() + n, p.bytes);
        std::memcpy(wanted_near.data() + n, far_pattern.data() + (p.remote - theirs), p.bytes);
      }
      require(mine == wanted, "put pieces are wrong");
      const auto own_pattern = patterned(room, 77 + static_cast<std::uint64_t>(m.rank));
      std::copy(own_pattern.begin(), own_pattern.end(), mine.begin());
      std::fill(near.begin(), near.end(), std::byte{0x22});
      m.meet();
      m.rma.get_pieces(m.next(), pieces);
      require(near == wanted_near, "got pieces are wrong");
      m.meet();
    }
    m.rma.put_pieces(m.next(), {});
    m.rma.get_pieces(m.next(), {});
  });
}

INSTANTIATE_TEST_SUITE_P(ways, rma_sections, every_way,
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinew::rma
