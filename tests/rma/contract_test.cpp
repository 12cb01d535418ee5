// SPDX-License-Identifier: BSD-3-Clause
// The promises at the top of sinew/rma/engine.hpp, one test each at least.
#include <chrono>
#include <limits>
#include <thread>

#include "rma/fixture.hpp"

namespace sinew::rma {
namespace {

class rma_contract : public rma_test {};

std::vector<std::size_t> transfer_sizes(random_generator& random) {
  std::vector<std::size_t> sizes{0,  1,  2,    3,    4,    7,     8,      9,      15,
                                 16, 63, 64,   65,   4095, 4096,  524287, 524288, 524289,
                                 17, 33, 1000, 1024, 8192, 65537, 700001, 1 << 20};
  for (int i = 0; i < 20; ++i) {
    sizes.push_back(random.below(std::size_t{1} << random.below(21)));
  }
  return sizes;
}

TEST_P(rma_contract, puts_and_gets_of_every_size_move_exactly_that) {
  run(2, [](rma_member& m) {
    random_generator random = common_random();
    const std::size_t room = (1 << 20) + 256;
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, room);
    std::byte* mine = m.rma.at({job_rank{m.rank}, box});
    for (const std::size_t n : transfer_sizes(random)) {
      const std::size_t skew = random.below(65);
      const std::size_t here = random.below(17);
      std::memset(mine, 0x5a, room);
      m.meet();
      auto data = patterned(n + here, n + static_cast<std::size_t>(m.rank));
      m.rma.put({m.next(), box + skew}, data.data() + here, n);
      std::fill(data.begin(), data.end(), std::byte{0});  // source-complete
      m.rma.flush(m.next());
      m.meet();
      const auto theirs = patterned(n + here, n + m.next().index());
      require(same(mine + skew, theirs.data() + here, n), "data is wrong");
      for (std::size_t i = 0; i < skew; ++i) {
        require(mine[i] == std::byte{0x5a}, "written before the beginning");
      }
      require(mine[skew + n] == std::byte{0x5a}, "written past the end");
      std::vector<std::byte> got(n + 2, std::byte{1});
      m.rma.get(got.data() + 1, {m.next(), box + skew}, n);
      const auto own = patterned(n + here, n + static_cast<std::size_t>(m.rank));
      require(same(got.data() + 1, own.data() + here, n), "what was got is wrong");
      require(got[0] == std::byte{1} && got[n + 1] == std::byte{1}, "got too much");
      m.meet();
    }
  });
}

TEST_P(rma_contract, a_rank_sees_its_own_puts) {
  run(3, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 1 << 20);
    const place there{m.next(), box};
    for (std::uint64_t k = 1; k < (slow_build ? 20U : 200U); ++k) {
      m.rma.put(there, &k, sizeof k);
      require(m.rma.load<std::uint64_t>(there) == k, "an atomic misses the put before it");
      require(m.rma.fetch_add<std::uint64_t>(there, 1) == k, "fetch_add misses the put");
      std::uint64_t got = 0;
      m.rma.get(&got, there, sizeof got);
      require(got == k + 1, "a get misses the atomic before it");
      const auto data = patterned(k * 5000, k);
      std::vector<std::byte> back(data.size());
      m.rma.put(there, data.data(), data.size());
      m.rma.get(back.data(), there, back.size());
      require(back == data, "a get misses the put before it");
    }
  });
}

TEST_P(rma_contract, fence_orders_puts) {
  run(2, [](rma_member& m) {
    const std::size_t n = 600 << 10;  // some of it around the caches
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, n);
    const std::uint64_t flag = m.rma.memory().allocate(part::symmetric, 8);
    random_generator random = common_random();
    const std::uint64_t rounds = slow_build ? 100 : 400;
    for (std::uint64_t k = 1; k <= rounds; ++k) {
      const std::size_t size = random.below(std::size_t{1} << random.below(20)) % n;
      if (m.rank == 0) {
        const auto data = patterned(size, k);
        m.rma.put({1, box}, data.data(), size);
        m.rma.fence();
        m.rma.put({1, flag}, &k, sizeof k);
      } else {
        m.until([&] { return m.rma.load<std::uint64_t>({1, flag}) == k; });
        require(same(m.rma.at({1, box}), patterned(size, k).data(), size),
                "the flag was seen before the data");
      }
      m.meet();
    }
  });
}

TEST_P(rma_contract, a_fence_of_one_rank_orders_what_is_put_and_posted_to_it) {
  run(2, [](rma_member& m) {
    const std::size_t n = 40 << 10;
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, n);
    const std::uint64_t count = m.rma.memory().allocate(part::symmetric, 8);
    const std::uint64_t bits = m.rma.memory().allocate(part::symmetric, 8);
    random_generator random = common_random();
    const std::uint64_t rounds = slow_build ? 100 : 400;
    for (std::uint64_t k = 1; k <= rounds; ++k) {
      const std::size_t size = random.below(n);
      const std::uint64_t bit = std::uint64_t{1} << (k % 64);
      if (m.rank == 0) {
        const auto data = patterned(size, k);
        m.rma.put({1, box}, data.data(), size);
        m.rma.fence(1);
        m.rma.put({1, count}, &k, sizeof k);
        m.rma.fence(1);
        m.rma.post_or<std::uint64_t>({1, bits}, bit);
      } else {
        m.rma.wait(bits, until::not_equal, 0);  // it wakes who sleeps
        require(m.rma.load<std::uint64_t>({1, count}) == k, "the bit was seen before the count");
        require(same(m.rma.at({1, box}), patterned(size, k).data(), size),
                "the count was seen before the data");
        require(m.rma.take_bits<std::uint64_t>(bits) == bit, "other bits are set");
        require(m.rma.load<std::uint64_t>({1, bits}) == 0, "the bits were not taken");
      }
      m.meet();
    }
  });
}

TEST_P(rma_contract, long_and_short_puts_of_one_place_follow_each_other) {
  run(3, [](rma_member& m) {
    constexpr std::size_t room = 3 * engine::long_put;
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, room);
    const std::uint64_t told = m.rma.memory().allocate(part::symmetric, 8);
    random_generator random = common_random();  // all do the same to the next one
    std::vector<std::byte> model(room, std::byte{0});
    std::vector<std::byte> back(room);
    std::memset(m.rma.at({m.rma.rank(), box}), 0, room);
    m.meet();
    constexpr std::size_t sizes[] = {8, 1000, engine::long_put, engine::long_put + 4100};
    for (std::uint64_t round = 1; round <= (slow_build ? 10U : 40U); ++round) {
      for (std::size_t k = 0, n = 1 + random.below(6); k < n; ++k) {
        const std::size_t bytes = sizes[random.below(std::size(sizes))];
        const std::size_t at = random.below(room - bytes + 1) / 8 * 8;
        const auto data = patterned(bytes, round * 10 + k);
        std::copy(data.begin(), data.end(), model.begin() + static_cast<std::ptrdiff_t>(at));
        m.rma.put({m.next(), box + at}, data.data(), bytes);
      }
      if (random.below(2) == 0) {  // seen by this rank's own get, in part or whole
        const std::size_t bytes = random.below(2) == 0 ? 100 : room;
        m.rma.get(back.data(), {m.next(), box}, bytes);
        require(same(back.data(), model.data(), bytes), "a put was overtaken");
      }
      m.rma.add<std::uint64_t>({m.next(), told}, 1);  // and by whoever sees this
      (void)m.rma.wait(told, until::at_least, round);
      require(same(m.rma.at({m.rma.rank(), box}), model.data(), room), "a put comes late");
      m.rma.sync_all();
    }
  });
}

TEST_P(rma_contract, flush_completes_at_the_target) {
  // If both ranks could miss the other's put after their own flush, one was not complete.
  run(2, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 64);
    const std::uint64_t zero = 0;
    for (std::uint64_t k = 1; k <= (slow_build ? 2000U : 20000U); ++k) {
      m.rma.put({job_rank{m.rank}, box}, &zero, sizeof zero);
      m.meet();
      m.rma.put({m.next(), box}, &k, sizeof k);
      m.rma.flush(m.next());
      std::uint64_t seen = 0;
      m.rma.get(&seen, {job_rank{m.rank}, box}, sizeof seen);
      m.all.word[m.rank].store(seen);
      m.meet();
      require(m.all.word[0].load() == k || m.all.word[1].load() == k, "both flushes were early");
      m.meet();
    }
  });
}

TEST_P(rma_contract, a_notification_comes_after_its_data) {
  run(2, [](rma_member& m) {
    const std::size_t n = 1 << 20;
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, n);
    const std::uint64_t come = m.rma.memory().allocate(part::symmetric, 8);
    random_generator random = common_random();
    const std::uint64_t rounds = slow_build ? 200 : 1000;
    std::uint64_t notified = 0;
    for (std::uint64_t k = 1; k <= rounds; ++k) {
      const std::size_t size = random.below(std::size_t{1} << random.below(21)) % n;
      if (m.rank == static_cast<int>(k % 2)) {
        const auto data = patterned(size, k);
        m.rma.put_notify({m.next(), box}, data.data(), size, come);
      } else {
        (void)m.rma.wait(come, until::at_least, ++notified);
        require(same(m.rma.at({job_rank{m.rank}, box}), patterned(size, k).data(), size),
                "notified before the data was there");
      }
    }
  });
}

TEST_P(rma_contract, puts_come_before_what_a_rank_does_elsewhere) {
  // Rank 0 puts to one rank and tells another: who learns of it finds the put.
  run(3, [](rma_member& m) {
    const std::size_t n = 200 << 10;
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, n);
    const std::uint64_t told = m.rma.memory().allocate(part::symmetric, 8);
    random_generator random = common_random();
    for (std::uint64_t k = 1; k <= (slow_build ? 50U : 200U); ++k) {
      const std::size_t size = 1 + random.below(std::size_t{1} << random.below(18));
      const bool by_event = random.below(2) == 0;
      if (m.rank == 0) {
        const auto data = patterned(size, k);
        m.rma.put({2, box}, data.data(), size);
        by_event ? m.rma.post({1, told}) : m.rma.store<std::uint64_t>({1, told}, k);
      } else if (m.rank == 1) {
        (void)m.rma.wait(told, until::equal, k);
        std::vector<std::byte> got(size);
        m.rma.get(got.data(), {2, box}, size);
        require(got == patterned(size, k), "told before the data was there");
      }
      m.rma.sync_all();
    }
  });
}

TEST_P(rma_contract, who_is_told_alone_finds_puts_to_it_and_to_others) {
  run(4, [](rma_member& m) {
    const std::uint64_t boxes = m.rma.memory().allocate(part::symmetric, 8 * 4);
    const std::uint64_t word = m.rma.memory().allocate(part::symmetric, 8);
    const auto box_of = [&](job_rank r) { return boxes + 8 * r.index(); };
    random_generator random = own_random(m);
    for (std::uint64_t k = 1; k <= (slow_build ? 100U : 500U); ++k) {
      const auto another = static_cast<std::uint64_t>(random.below(4));
      const job_rank to[] = {m.next(), job_rank::of_index(another)};
      for (const job_rank r : to) {
        m.rma.put({r, box_of(job_rank{m.rank})}, &k, sizeof k);
      }
      m.rma.settle_before_telling(m.next());
      m.rma.announce({m.next(), word}, k << 2 | another);
      const std::uint64_t told = m.rma.wait(word, until::at_least, k << 2);
      for (const job_rank at : {job_rank{m.rank}, job_rank::of_index(told & 3)}) {
        std::uint64_t seen = 0;
        m.rma.get(&seen, {at, box_of(m.previous())}, sizeof seen);
        require(seen == k, "told before the data was there");
      }
      m.rma.sync_all();
    }
  });
}

TEST_P(rma_contract, who_is_not_told_is_waited_for) {
  run(4, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 64);
    const std::uint64_t data = 7;
    m.meet();
    std::atomic<std::uint64_t>& settled = m.all.word[0];
    if (m.rank == 0) {
      m.rma.put({job_rank{3}, box}, &data, sizeof data);
      m.rma.settle_before_telling(1);
      settled.store(1);
    } else if (m.rank == 3 && !m.rma.maps(0)) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
      while (std::chrono::steady_clock::now() < until) {  // makes no progress
        require(settled.load() == 0, "rank 0 did not wait until its put had been handled");
      }
      m.until([&] { return settled.load() == 1; });
      require(m.rma.load<std::uint64_t>({job_rank{3}, box}) == data, "settled too early");
    }
    m.meet();
  });
}

TEST_P(rma_contract, who_is_told_alone_is_not_waited_for) {
  run(4, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 64);
    const std::uint64_t word = m.rma.memory().allocate(part::symmetric, 8);
    const std::uint64_t data = 7;
    m.meet();
    if (m.rank == 0) {  // the first put learns of the other heap, which takes an answer
      m.rma.put({job_rank{3}, box}, &data, sizeof data);
      m.rma.flush(3);
    }
    m.meet();
    std::atomic<std::uint64_t>& told = m.all.word[0];
    if (m.rank == 0) {
      m.rma.put({job_rank{3}, box}, &data, sizeof data);
      m.rma.settle_before_telling(3);
      m.rma.announce({job_rank{3}, word}, 1);
      told.store(1);
    } else if (m.rank == 3) {
      while (told.load() == 0 && m.all.failed.load() == 0) {  // makes no progress
        std::this_thread::yield();
      }
      (void)m.rma.wait(word, until::equal, 1);
      require(m.rma.load<std::uint64_t>({job_rank{3}, box}) == data,
              "told before the data was there");
    }
    m.meet();
  });
}

// Collectives of a node stand on this: a rank of another node may have left for ever.
TEST_P(rma_contract, an_announcement_in_the_node_does_not_wait_for_puts_to_others) {
  run(4, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 64);
    const std::uint64_t word = m.rma.memory().allocate(part::symmetric, 8);
    const std::uint64_t data = 7;
    m.meet();
    if (m.rank == 0) {  // the first put learns of the other heap, which takes an answer
      m.rma.put({job_rank{3}, box}, &data, sizeof data);
      m.rma.flush(3);
    }
    m.meet();
    std::atomic<std::uint64_t>& seen = m.all.word[0];
    if (m.rank == 0) {
      m.rma.put({job_rank{3}, box}, &data, sizeof data);
      const job_rank waiter{1};
      m.rma.announce_to(word, 1, {&waiter, 1});
    } else if (m.rank == 1 && m.rma.maps(0)) {
      const std::byte* at = m.rma.at({job_rank{0}, word});
      m.rma.wait_until(
          [](void* w) {
            return std::atomic_ref<std::uint64_t>(*static_cast<std::uint64_t*>(w)).load() == 1;
          },
          const_cast<std::byte*>(at));
      seen.store(1);
    } else if (m.rank == 3) {
      while (seen.load() == 0 && m.all.failed.load() == 0) {  // makes no progress
        std::this_thread::yield();
      }
    }
    m.meet();
  });
}

TEST_P(rma_contract, words_are_not_torn) {
  run(2, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 64);
    const int rounds = slow_build || !m.rma.maps_all() ? 20000 : 300000;
    for (int k = 0; k < rounds; ++k) {
      if (m.rank == 0) {
        const std::uint64_t value = k % 2 == 0 ? 0 : ~std::uint64_t{0};
        m.rma.put({1, box}, &value, sizeof value);
        const auto half = static_cast<std::uint32_t>(value);
        m.rma.put({1, box + 8}, &half, sizeof half);
      } else {
        std::uint64_t value = 0;
        m.rma.get(&value, {1, box}, sizeof value);
        require(value == 0 || value == ~std::uint64_t{0}, "a word was torn");
        std::uint32_t half = 0;
        m.rma.get(&half, {1, box + 8}, sizeof half);
        require(half == 0 || half == ~std::uint32_t{0}, "half a word was torn");
      }
    }
  });
}

template <class Word>
void hammer(rma_member& m, std::uint64_t box) {
  const Word rounds = slow_build || !m.rma.maps_all() ? 300 : 4000;
  const place sum{0, box};
  const place exchanged{0, box + 8};
  const place bits{0, box + 16};
  for (Word k = 0; k < rounds; ++k) {
    m.rma.fetch_add<Word>(sum, 1);
    Word seen = m.rma.load<Word>(sum);
    for (Word found; (found = m.rma.compare_swap<Word>(sum, seen, seen + 1)) != seen;) {
      seen = found;
    }
    const Word one = 1;
    m.rma.accumulate(sum, &one, 1, sizeof(Word) == 8 ? element::u64 : element::u32, combine::sum);
    // What is swapped out is kept, so that nothing is lost or doubled.
    m.all.word[m.rank].fetch_add(m.rma.swap<Word>(exchanged, k * 3 + 1));
    const Word mine = Word{1} << m.rank;
    require((m.rma.fetch_or<Word>(bits, mine) & mine) == 0, "my bit was set by another");
    require((m.rma.fetch_and<Word>(bits, ~mine) & mine) != 0, "my bit was cleared by another");
    m.rma.fetch_xor<Word>(bits, mine);
    m.rma.fetch_xor<Word>(bits, mine);
  }
  m.meet();
  if (m.rank == 0) {
    const auto n = static_cast<std::uint64_t>(m.size);
    require(m.rma.load<Word>(sum) == 3 * n * rounds, "an addition was lost");
    require(m.rma.load<Word>(bits) == 0, "a bit was lost");
    std::uint64_t total = m.rma.load<Word>(exchanged);
    for (int r = 0; r < m.size; ++r) {
      total += m.all.word[r].exchange(0);
    }
    const std::uint64_t each = std::uint64_t{rounds} * (rounds - 1) / 2 * 3 + rounds;
    require(total == n * each, "a swap was lost");
  }
  m.meet();
}

TEST_P(rma_contract, atomics_are_atomic) {
  run(4, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 64);
    hammer<std::uint64_t>(m, box);
    std::memset(m.rma.at({job_rank{m.rank}, box}), 0, 64);
    m.meet();
    hammer<std::uint32_t>(m, box);
  });
}

template <class T>
T model(T a, T b, combine op) {
  using wide = std::conditional_t<std::is_integral_v<T>, unsigned long long, T>;
  switch (op) {
    case combine::sum:
      return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
    case combine::product:
      return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
    case combine::min:
      return b < a ? b : a;
    case combine::max:
      return a < b ? b : a;
    case combine::replace:
      return b;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op != combine::keep) {
      return static_cast<T>(op == combine::bit_and ? a & b : op == combine::bit_or ? a | b : a ^ b);
    }
  }
  return a;
}

template <class T>
void accumulate_of(rma_member& m, std::uint64_t box, element type) {
  random_generator random = own_random(m);
  constexpr std::size_t n = 37;
  for (int o = 0; o <= static_cast<int>(combine::keep); ++o) {
    const auto op = static_cast<combine>(o);
    if (!std::is_integral_v<T> && op >= combine::bit_and && op <= combine::bit_xor) {
      continue;
    }
    std::vector<T> there(n);
    std::vector<T> operand(n);
    std::vector<T> before(n);
    for (std::size_t i = 0; i < n; ++i) {
      there[i] = static_cast<T>(random());
      operand[i] = static_cast<T>(random());
    }
    // Each rank its own piece of the next one's box.
    const place at{m.next(), box};
    m.rma.put(at, there.data(), n * sizeof(T));
    m.rma.accumulate(at, operand.data(), n, type, op, before.data());
    require(std::memcmp(before.data(), there.data(), n * sizeof(T)) == 0, "before is wrong");
    std::vector<T> after(n);
    m.rma.get(after.data(), at, n * sizeof(T));
    for (std::size_t i = 0; i < n; ++i) {
      const T wanted = model(there[i], operand[i], op);
      require(std::memcmp(&after[i], &wanted, sizeof(T)) == 0,
              "operation " + std::to_string(o) + " is wrong");
    }
  }
}

TEST_P(rma_contract, accumulate_knows_every_type_and_operation) {
  run(2, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 512);
    accumulate_of<std::int8_t>(m, box, element::i8);
    accumulate_of<std::int16_t>(m, box, element::i16);
    accumulate_of<std::int32_t>(m, box, element::i32);
    accumulate_of<std::int64_t>(m, box, element::i64);
    accumulate_of<std::uint8_t>(m, box, element::u8);
    accumulate_of<std::uint16_t>(m, box, element::u16);
    accumulate_of<std::uint32_t>(m, box, element::u32);
    accumulate_of<std::uint64_t>(m, box, element::u64);
    accumulate_of<float>(m, box, element::f32);
    accumulate_of<double>(m, box, element::f64);
  });
}

TEST_P(rma_contract, accumulate_is_atomic) {
  run(4, [](rma_member& m) {
    constexpr std::size_t n = 50;
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 4 * n * 8);
    const int rounds = slow_build ? 50 : 500;
    const std::vector<double> halves(n, 0.5);
    const std::vector<std::int8_t> bytes(n, 1);
    for (int k = 0; k < rounds; ++k) {
      m.rma.accumulate({0, box}, halves.data(), n, element::f64, combine::sum);
      m.rma.accumulate({0, box + n * 8}, bytes.data(), n, element::i8, combine::sum);
      const std::vector<std::int64_t> mine(n, (k * 17) % rounds * 10 + m.rank);
      m.rma.accumulate({0, box + n * 16}, mine.data(), n, element::i64, combine::max);
    }
    m.rma.flush(0);
    m.meet();
    if (m.rank == 0) {
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        std::int8_t small = 0;
        std::int64_t most = 0;
        m.rma.get(&sum, {0, box + i * 8}, 8);
        m.rma.get(&small, {0, box + n * 8 + i}, 1);
        m.rma.get(&most, {0, box + n * 16 + i * 8}, 8);
        require(sum == 0.5 * 4 * rounds, "a sum is wrong");
        require(small == static_cast<std::int8_t>(4 * rounds), "a sum of bytes is wrong");
        require(most == (rounds - 1) * 10 + 3, "a maximum is wrong");
      }
    }
    m.meet();
  });
}

TEST_P(rma_contract, addresses_and_offsets_name_the_same) {
  run(2, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::local, 100);
    std::byte* here = m.rma.at({job_rank{m.rank}, box});
    require(m.rma.offset_of(here) == box, "offset_of is wrong");
    int elsewhere = 0;
    require(m.rma.offset_of(&elsewhere) == 0, "a variable is in the heap?");
    m.all.word[m.rank].store(address_of(here));
    m.meet();
    const outside theirs = outside::of(m.next(), m.all.word[m.next().index()].load());
    std::byte* reached = m.rma.reach(theirs, 100);
    if (GetParam().over_nodes()) {
      require(reached == nullptr && !m.rma.maps(m.next()), "reached another node's heap");
      return;
    }
    require(reached != nullptr, "a heap's address cannot be reached");
    *reached = static_cast<std::byte>(m.rank + 3);
    m.meet();
    require(*here == static_cast<std::byte>(m.next().value() + 3), "reached something else");
    if (GetParam().kind == ranks_as::processes) {
      require(m.rma.reach(outside::of(m.next(), address_of(&elsewhere)), 4) == nullptr,
              "reached a stack");
    }
  });
}

/// A request of the test's service: adds to a word, and answers what was there, in as many words as
/// there is room for.
struct addition {
  std::uint64_t address;
  std::uint64_t more;
};

void add_for_others(job_rank, std::span<const std::byte> data,
                    std::span<std::byte> answer) noexcept {
  addition a{};
  std::memcpy(&a, data.data(), sizeof a);
  std::uint64_t& word = *reinterpret_cast<std::uint64_t*>(a.address);
  for (std::size_t i = 0; i < answer.size(); i += sizeof word) {
    std::memcpy(answer.data() + i, &word, sizeof word);
  }
  word += a.more;
}

std::span<const std::byte> data_of(const addition& a) { return std::as_bytes(std::span(&a, 1)); }

TEST_P(rma_contract, requests_are_carried_out_by_owners_in_order) {
  run(3, [](rma_member& m) {
    engine::serve(service::windows, add_for_others);
    std::vector<std::uint64_t> words(static_cast<std::size_t>(m.size), 0);
    m.all.word[m.rank].store(address_of(words.data()));
    m.meet();
    for (job_rank r = 0; r.below(m.size); ++r) {
      if (r == m.rma.rank()) {
        continue;
      }
      const std::uint64_t mine = m.all.word[r.index()].load() + 8 * static_cast<unsigned>(m.rank);
      const std::uint64_t first = 100;
      m.rma.put(outside::of(r, mine), &first, sizeof first);
      const addition one{mine, 1};
      for (int i = 0; i < 20; ++i) {
        m.rma.tell(r, service::windows, data_of(one));
      }
      // More than are under way at a time, the last as long as may be.
      std::vector<std::uint64_t> answers(30 + m.rma.most_asked(r) / 8);
      std::vector<question> all;
      for (std::size_t i = 0; i < 30; ++i) {
        all.push_back({data_of(one), std::as_writable_bytes(std::span(&answers[i], 1))});
      }
      all.push_back({data_of(one), std::as_writable_bytes(std::span(answers).subspan(30))});
      m.rma.ask(r, service::windows, all);
      for (std::size_t i = 0; i < answers.size(); ++i) {
        require(answers[i] == 120 + std::min<std::uint64_t>(i, 30), "an answer is wrong");
      }
      m.rma.tell(r, service::windows, data_of(one));
    }
    m.rma.flush_all();
    m.meet();
    for (job_rank r = 0; r.below(m.size); ++r) {
      require(words[r.index()] == (r == m.rma.rank() ? 0U : 152U), "a flush has not waited");
    }
    m.meet();
  });
}

TEST_P(rma_contract, gets_and_requests_are_under_way_while_their_owner_computes) {
  if (!GetParam().over_nodes()) {
    GTEST_SKIP() << "gets from this node have ended when they return";
  }
  run(3, [](rma_member& m) {
    engine::serve(service::windows, add_for_others);
    constexpr std::size_t many = 20;
    std::vector<std::uint64_t> words(many, 7);
    const job_rank asker = 0;
    const job_rank owner = 2;
    std::atomic<std::uint64_t>& begun = m.all.word[10];
    std::vector<std::uint64_t> got(2 * many, 0);
    m.all.word[m.rank].store(address_of(words.data()));
    m.meet();
    const std::uint64_t theirs = m.all.word[owner.index()].load();
    if (m.rma.rank() == asker) {
      m.rma.get(got.data(), outside::of(owner, theirs), 8);  // so that the two have greeted
    }
    m.meet();
    if (m.rma.rank() == owner) {
      // Wait: without progress, until the other rank's calls have returned.
      while (begun.load() == 0 && m.all.failed.load() == 0) {
        std::this_thread::yield();
      }
    } else if (m.rma.rank() == asker) {
      const std::uint64_t before = m.rma.gets_begun();
      for (std::size_t i = 0; i < many; ++i) {
        const addition one{theirs + 8 * i, i};
        m.rma.ask_later(owner, service::windows,
                        {data_of(one), std::as_writable_bytes(std::span(&got[2 * i], 1))});
        const fabric::piece piece{&got[2 * i + 1], theirs + 8 * i, 8};
        m.rma.get_pieces_later(owner, {&piece, 1});
      }
      const std::uint64_t all = m.rma.gets_begun();
      require(all == before + 2 * many && !m.rma.gets_ended(all), "nobody could have answered");
      begun.store(1);
      m.rma.finish_gets();
      require(m.rma.gets_ended(all), "the end is not known");
      for (std::size_t i = 0; i < many; ++i) {
        require(got[2 * i] == 7 && got[2 * i + 1] == 7 + i, "an answer is wrong");
      }
    }
    m.meet();
  });
}

INSTANTIATE_TEST_SUITE_P(ways, rma_contract, every_way,
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinew::rma
