// SPDX-License-Identifier: BSD-3-Clause
// Waiting: no wake-up is lost, whoever sleeps; signals, events, barriers, locks.
#include <unistd.h>

#include <thread>

#include "rma/fixture.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/rma/barrier.hpp"
#include "sinew/rma/lock.hpp"

namespace sinew::rma {
namespace {

class rma_waiting : public rma_test {};

/// Mostly nothing, at times long enough for everybody to be asleep.
void pause_at_random(random_generator& random) {
  switch (random.below(40)) {
    case 0:
      ::usleep(static_cast<useconds_t>(random.below(5000)));
      break;
    case 1:
    case 2:
      ::usleep(static_cast<useconds_t>(random.below(200)));
      break;
    case 3:
      sched_yield();
      break;
    default:
      for (auto n = random.below(300); n != 0; --n) {
        asm volatile("" ::: "memory");
      }
  }
}

TEST_P(rma_waiting, a_wait_ends_when_its_condition_holds) {
  run(2, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 64);
    random_generator random = own_random(m);
    const std::uint64_t rounds = slow_build ? 300 : 2000;
    for (std::uint64_t k = 1; k <= rounds; ++k) {
      const place theirs{m.next(), box};
      if (m.rank == 0) {
        pause_at_random(random);
        m.rma.store<std::uint64_t>(theirs, k);
        require(m.rma.wait(box, until::equal, k) == k, "equal is not");
      } else {
        const auto how = k % 2 == 0 ? until::not_equal : until::at_least;
        require(m.rma.wait(box, how, how == until::at_least ? k : k - 1) == k, "seen too much");
        pause_at_random(random);
        m.rma.fetch_add<std::uint64_t>(theirs, 1);
      }
    }
  });
}

/// A rank that looks at words itself, and sleeps on the doorbell in between.
TEST_P(rma_waiting, who_listens_sleeps_and_is_rung) {
  run(2, [](rma_member& m) {
    constexpr std::uint64_t long_ns = 5'000'000'000;
    const std::uint64_t said = m.rma.memory().allocate(part::symmetric, 8);
    random_generator random = own_random(m);
    const job_rank other{1 - m.rank};
    if (!m.rma.maps(other)) {
      return;  // one listens to ranks of one's node
    }
    std::vector<job_rank> asleep;
    asleep.reserve(2);
    for (std::uint64_t k = 1; k <= 100; ++k) {
      if (m.rank == static_cast<int>(k % 2)) {
        pause_at_random(random);
        m.rma.announce_without_waiting(said, k, {&other, 1}, asleep);
        while (!asleep.empty() && !m.rma.send_alert(asleep.back())) {
          (void)m.rma.runtime().poll();
        }
        asleep.clear();
        continue;
      }
      const auto theirs =
          std::atomic_ref(*reinterpret_cast<std::uint64_t*>(m.rma.at({other, said})));
      m.rma.listen();
      while (theirs.load() < k) {
        if (m.rma.runtime().poll() == 0 && theirs.load() < k) {
          const std::int64_t before = now_ns();
          m.rma.runtime().endpoint().sleep(long_ns);
          require(static_cast<std::uint64_t>(now_ns() - before) < long_ns / 2, "nobody rang");
        }
      }
      m.rma.stop_listening();
    }
  });
}

TEST_P(rma_waiting, at_least_survives_the_wrap) {
  run(2, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 64);
    m.rma.store<std::uint64_t>({job_rank{m.rank}, box}, ~std::uint64_t{1});
    m.meet();
    m.rma.fetch_add<std::uint64_t>({m.next(), box}, 3);
    require(m.rma.wait(box, until::at_least, 1) == 1, "the counter did not wrap");
  });
}

TEST_P(rma_waiting, a_waiter_makes_progress_for_others) {
  // Rank 0 waits for a word that rank 1 changes only after rank 0 has served it.
  run(2, [](rma_member& m) {
    std::vector<std::byte> far = patterned(100000, 7);
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 8);
    m.all.word[m.rank].store(address_of(far.data()));
    m.meet();
    if (m.rank == 0) {
      (void)m.rma.wait(box, until::equal, 1);
    } else {
      std::vector<std::byte> got(far.size());
      m.rma.get(got.data(), outside::of(0, m.all.word[0].load()), got.size());
      require(got == far, "what was got is wrong");
      m.rma.store<std::uint64_t>({0, box}, 1);
    }
  });
}

TEST_P(rma_waiting, signals_pair_up) {
  run(4, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 8 * 4);
    random_generator random = own_random(m);
    const std::vector<job_rank> neighbours{m.previous(), m.next()};
    for (std::uint64_t k = 1; k <= (slow_build ? 100U : 500U); ++k) {
      pause_at_random(random);
      for (const job_rank r : neighbours) {
        m.rma.put({r, box + 8 * static_cast<std::uint64_t>(m.rank)}, &k, sizeof k);
      }
      m.rma.sync_with(neighbours);
      for (const job_rank r : neighbours) {
        std::uint64_t seen = 0;
        m.rma.get(&seen, {job_rank{m.rank}, box + 8 * r.index()}, sizeof seen);
        require(seen == k || seen == k + 1, "a neighbour's put is not there after the sync");
      }
    }
    // Signals may run ahead of their awaits.
    for (int k = 0; k < 100; ++k) {
      m.rma.signal(m.next());
    }
    for (int k = 0; k < 100; ++k) {
      m.rma.await(m.previous());
    }
  });
}

void barrier_holds(rma_member& m, std::uint64_t rounds, bool slow,
                   const std::function<void()>& synchronise) {
  random_generator random = own_random(m);
  for (std::uint64_t k = 1; k <= rounds; ++k) {
    if (slow) {
      pause_at_random(random);
    }
    m.all.word[m.rank].store(k);
    synchronise();
    for (int r = 0; r < m.size; ++r) {
      require(m.all.word[r].load() >= k, "the barrier let go too early");
    }
    synchronise();
  }
}

TEST_P(rma_waiting, sync_all_waits_for_all) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    run(ranks, [](rma_member& m) {
      barrier_holds(m, slow_build ? 50 : 300, true, [&] { m.rma.sync_all(); });
    });
  }
}

TEST_P(rma_waiting, sixteen_ranks_on_few_processors) {
  run(16, [](rma_member& m) {
    barrier_holds(m, slow_build ? 20 : 200, false, [&] { m.rma.sync_all(); });
  });
}

TEST_P(rma_waiting, barriers_over_subsets) {
  run(6, [](rma_member& m) {
    random_generator random = common_random();
    const std::size_t used = m.rma.memory().used(part::local);
    for (int k = 0; k < (slow_build ? 10 : 40); ++k) {
      // The ranks are dealt out to groups in random order; some are in none.
      std::vector<std::vector<job_rank>> groups(1 + random.below(4));
      std::vector<job_rank> ranks(static_cast<std::size_t>(m.size));
      std::iota(ranks.begin(), ranks.end(), job_rank(0));
      for (std::size_t i = ranks.size(); i > 1; --i) {
        std::swap(ranks[i - 1], ranks[random.below(i)]);
      }
      for (const job_rank r : ranks) {
        const auto g = random.below(groups.size() + 1);
        if (g < groups.size()) {
          groups[g].push_back(r);
        }
      }
      for (const auto& g : groups) {
        if (std::find(g.begin(), g.end(), job_rank{m.rank}) == g.end()) {
          continue;
        }
        barrier among(m.rma, g);
        for (std::uint64_t round = 1; round <= 20; ++round) {
          m.all.word[m.rank].store(round + static_cast<std::uint64_t>(k) * 100);
          among.wait();
          for (const job_rank r : g) {
            require(m.all.word[r.index()].load() >= round + static_cast<std::uint64_t>(k) * 100,
                    "a barrier of some let go too early");
          }
          among.wait();
        }
      }
    }
    m.rma.sync_all();
    const job_rank alone[] = {job_rank{m.rank}};
    {
      barrier last(m.rma, alone);
    }  // takes back what the dead ones held
    require(m.rma.memory().used(part::local) == used, "a barrier kept its memory");
  });
}

TEST_P(rma_waiting, a_barrier_without_memory_fails_on_all_members) {
  const bool one_node = !GetParam().over_nodes();
  run(3,
      [one_node](rma_member& m) {
        std::vector<job_rank> all{2, 0, 1};
        if (m.rank == 2) {
          while (m.rma.memory().try_allocate(part::local, 64) != 0) {
          }
        }
        for (int k = 0; k < 3; ++k) {
          bool failed = false;
          try {
            barrier b(m.rma, all);
          } catch (const error& e) {
            failed = std::string(e.what()).find("SINEW_RMA_LOCAL_HEAP") != std::string::npos;
          }
          require(failed, "a barrier was made without memory");
        }
        m.rma.sync_all();
        if (one_node) {
          std::vector<job_rank> other{1, 2, 0};  // another first member, who has memory
          barrier b(m.rma, other);
          b.wait();
        }
        if (m.rank != 2) {  // who has none is no member
          barrier b(m.rma, std::vector<job_rank>{0, 1});
          b.wait();
        }
      },
      {1 << 20, 64 << 10});
}

TEST_P(rma_waiting, events_are_counted) {
  run(3, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 64);
    random_generator random = own_random(m);
    const int each = slow_build ? 200 : 1000;
    if (m.rank == 0) {
      int left = 2 * each;
      while (left > 0) {
        const int some = static_cast<int>(random.between(1, std::min(left, 7)));
        m.rma.take(box, static_cast<std::uint64_t>(some));
        left -= some;
      }
      require(m.rma.load<std::uint64_t>({0, box}) == 0, "an event is left over");
    } else {
      for (int k = 0; k < each; ++k) {
        pause_at_random(random);
        m.rma.post({0, box});
      }
    }
  });
}

TEST_P(rma_waiting, locks_exclude_each_other) {
  run(4, [](rma_member& m) {
    lock_table locks(m.rma);
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 1024);
    random_generator random = own_random(m);
    const int rounds = slow_build ? 100 : 600;
    std::uint64_t mine[2] = {0, 0};
    for (int k = 0; k < rounds; ++k) {
      const auto which = static_cast<int>(random.below(2));
      const place lock{job_rank{which}, box + 64 * static_cast<std::uint64_t>(which)};
      const place counter{job_rank{which + 2}, box + 512};
      if (random.with_probability(0.2)) {
        if (locks.try_acquire(lock) != lock_table::answer::done) {
          continue;
        }
      } else {
        require(locks.acquire(lock) == lock_table::answer::done, "a lock was refused");
      }
      std::uint64_t n = 0;  // not atomic: the lock must do
      m.rma.get(&n, counter, sizeof n);
      ++n;
      if (random.with_probability(0.05)) {
        pause_at_random(random);
      }
      m.rma.put(counter, &n, sizeof n);
      require(locks.release(lock) == lock_table::answer::done, "a lock was not mine");
      ++mine[which];
    }
    m.all.word[0].fetch_add(mine[0]);
    m.all.word[1].fetch_add(mine[1]);
    m.meet();
    for (const int which : {0, 1}) {
      std::uint64_t n = 0;
      m.rma.get(&n, {job_rank{which + 2}, box + 512}, sizeof n);
      require(n == m.all.word[which].load(), "two were inside a lock at once");
    }
    m.meet();
  });
}

TEST_P(rma_waiting, locks_tell_who_may_not) {
  using answer = lock_table::answer;
  run(2, [](rma_member& m) {
    lock_table locks(m.rma);
    const place lock{1, m.rma.memory().allocate(part::symmetric, 8)};
    if (m.rank == 0) {
      require(locks.release(lock) == answer::free, "a free lock was released");
      require(locks.acquire(lock) == answer::done, "a free lock was refused");
      require(locks.acquire(lock) == answer::mine_already, "taken twice");
      require(locks.try_acquire(lock) == answer::mine_already, "taken twice");
    }
    m.meet();
    if (m.rank == 1) {
      require(locks.try_acquire(lock) == answer::taken, "a taken lock was given");
      require(locks.release(lock) == answer::taken, "another's lock was released");
    }
    m.meet();
    if (m.rank == 0) {
      require(locks.release(lock) == answer::done, "my lock was not mine");
      require(locks.release(lock) == answer::free, "released twice");
    }
    // Many at once, more than one block of lines.
    const std::uint64_t many = m.rma.memory().allocate(part::local, 200 * 8);
    std::memset(m.rma.at({job_rank{m.rank}, many}), 0, 200 * 8);
    for (const bool taking : {true, false}) {
      for (std::uint64_t k = 0; k < 200; ++k) {
        const place one{job_rank{m.rank}, many + 8 * k};
        require((taking ? locks.acquire(one) : locks.release(one)) == answer::done, "no lock");
      }
    }
  });
}

TEST_P(rma_waiting, threads_of_one_rank_wait_for_different_words) {
  if (GetParam().threads == threading::one) {
    GTEST_SKIP() << "needs a threaded runtime";
  }
  run(2, [](rma_member& m) {
    constexpr int count = 6;
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 64 * count);
    const std::uint64_t rounds = slow_build ? 50 : 300;
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) {
      threads.emplace_back([&, t] {
        random_generator random(seed() + static_cast<std::uint64_t>(t * 2 + m.rank));
        const std::uint64_t word = box + 64 * static_cast<std::uint64_t>(t);
        for (std::uint64_t k = 1; k <= rounds; ++k) {
          if (m.rank == 0) {
            pause_at_random(random);
            m.rma.store<std::uint64_t>({1, word}, k);
          }
          (void)m.rma.wait(word, until::equal, k);
          if (m.rank == 1) {
            m.rma.store<std::uint64_t>({0, word}, k);
          }
        }
      });
    }
    for (auto& t : threads) {
      t.join();
    }
    // And one that another thread of the same rank changes.
    std::thread other([&] {
      ::usleep(1000);
      m.rma.store<std::uint64_t>({job_rank{m.rank}, box}, 0);
    });
    (void)m.rma.wait(box, until::equal, 0);
    other.join();
  });
}

struct bouncing {
  rma_member* m;
  std::uint64_t word;
  std::uint64_t rounds;
};

TEST_P(rma_waiting, many_fibers_wait_for_words_of_their_own) {
  if (GetParam().kind != ranks_as::processes) {
    GTEST_SKIP() << "a process has one scheduler";
  }
  run(2, [](rma_member& m) {
    constexpr std::size_t count = 200;
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 8 * count);
    {
      const fiber::scheduler all({.workers = 1});
      std::vector<bouncing> tasks;
      std::vector<fiber::fiber*> fibers(count);
      tasks.reserve(count);
      for (std::size_t i = 0; i < count; ++i) {
        tasks.push_back({&m, box + 8 * i, slow_build ? 5U : 50U});
        const auto bounce = [](void* argument) {
          auto& b = *static_cast<bouncing*>(argument);
          for (std::uint64_t k = 1; k <= b.rounds; ++k) {
            if (b.m->rank == 0) {
              b.m->rma.store<std::uint64_t>({1, b.word}, k);
            }
            (void)b.m->rma.wait(b.word, until::equal, k);
            if (b.m->rank == 1) {
              b.m->rma.store<std::uint64_t>({0, b.word}, k);
            }
          }
        };
        require(fiber::spawn(bounce, &tasks.back(), &fibers[i]).done(), "no fiber");
      }
      for (fiber::fiber* f : fibers) {
        fiber::join(*f);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(ways, rma_waiting, every_way,
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinew::rma
