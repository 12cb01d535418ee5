// SPDX-License-Identifier: BSD-3-Clause
// The promises of sinew/fabric/fabric.hpp as tests. tests/fabric/contract_test.cpp runs it over
// every row of the table of back-ends, a body once per rank (threads or processes).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "contract/fabric_messages.hpp"
#include "contract/fabric_ranks.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric::contract {

struct way_to_run {
  std::string name;
  bool threads;  ///< opened with threads = true
  /// Runs `work` on each of `ranks` ranks; returns what went wrong, or nothing.
  std::function<std::string(int ranks, bool threads, const body& work)> run;
};

inline std::ostream& operator<<(std::ostream& out, const way_to_run& b) { return out << b.name; }

class fabric_contract : public ::testing::TestWithParam<way_to_run> {
 protected:
  void run(int ranks, const body& work) {
    const std::uint64_t chosen = seed();  // before ranks are forked, who would choose their own
    const std::string problem = GetParam().run(ranks, GetParam().threads, work);
    EXPECT_EQ(problem, "") << "SINEW_TEST_SEED=" << chosen;
  }
  static constexpr bool slow_build =
#if defined(SINEW_TSAN) || defined(SINEW_ASAN) || defined(SINEW_EMULATED)
      true;
#else
      false;
#endif
};

/// Everybody sends `count` messages of random sizes to everybody, itself included.
inline void all_to_all(member& m, std::uint64_t count, bool mostly_small) {
  receiver r(static_cast<std::size_t>(m.size()));
  m.fabric.set_handler(1, &receiver::take, &r);
  m.barrier();
  std::mt19937_64 random(seed() + static_cast<std::uint64_t>(m.rank()));
  const std::size_t medium = m.fabric.bounds().max_medium;
  std::vector<std::byte> room(longest_of(m.fabric));
  const auto me = static_cast<std::uint64_t>(m.rank());
  for (std::uint64_t k = 0; k < count; ++k) {
    for (int peer = 0; peer < m.size(); ++peer) {
      const bool small = mostly_small ? random() % 8 != 0 : random() % 2 == 0;
      const std::size_t most = random() % 8 != 0 ? medium : m.fabric.longest_to(job_rank{peer});
      const std::size_t size = random() % ((small ? 64 : most) + 1);
      send_somehow(m.fabric, peer, me, k, size, static_cast<unsigned>(random()), room,
                   [&] { m.idle(); });
    }
    if (random() % 4 == 0) {
      m.fabric.progress(static_cast<int>(1 + random() % 7));
      r.check();
    }
  }
  const std::uint64_t expected = count * static_cast<std::uint64_t>(m.size());
  m.until([&] { return r.total >= expected || !r.problem.empty(); });
  r.check();
  m.barrier();
  m.fabric.progress(64);
  require(r.total == expected, "a message came twice");
  m.barrier();
}

TEST_P(fabric_contract, keeps_order_and_content) {
  run(3, [](member& m) { all_to_all(m, slow_build ? 600 : 4000, true); });
}

TEST_P(fabric_contract, large_messages) {
  run(2, [](member& m) { all_to_all(m, slow_build ? 300 : 3000, false); });
}

TEST_P(fabric_contract, alone) {
  run(1, [](member& m) { all_to_all(m, slow_build ? 300 : 3000, true); });
}

TEST_P(fabric_contract, sixteen_ranks) {
  run(16, [](member& m) { all_to_all(m, slow_build ? 20 : 100, true); });
}

TEST_P(fabric_contract, every_size) {
  run(2, [](member& m) {
    receiver r(2);
    m.fabric.set_handler(1, &receiver::take, &r);
    m.barrier();
    const std::size_t medium = m.fabric.bounds().max_medium;
    std::vector<std::byte> room(m.fabric.longest_to(job_rank{1}));
    if (m.rank() == 0) {
      std::uint64_t k = 0;
      std::vector<std::size_t> sizes;
      for (std::size_t size = 0; size <= medium; size += slow_build ? 13 : 1) {
        sizes.push_back(size);
      }
      for (std::size_t size = medium; size < room.size(); size += medium / 4 + 1) {
        sizes.insert(sizes.end(), {size, size + 1});
      }
      sizes.push_back(room.size());
      for (const std::size_t size : sizes) {
        for (unsigned choice = 0; choice < 4; ++choice) {
          send_somehow(m.fabric, 1, 0, k++, size, choice, room, [&] { m.idle(); });
        }
      }
      m.all.word[0].store(k);
    }
    m.until([&] {
      r.check();
      return m.rank() == 0 || (m.all.word[0].load() != 0 && r.total == m.all.word[0].load());
    });
    m.barrier();
  });
}

TEST_P(fabric_contract, refuses_and_recovers) {
  for (const std::size_t size : {std::size_t{8}, std::size_t{200}}) {
    run(3, [size](member& m) {
      receiver r(3);
      m.fabric.set_handler(1, &receiver::take, &r);
      m.barrier();
      std::vector<std::byte> room(size);
      for (std::uint64_t round = 0; round < 5; ++round) {
        std::uint64_t sent = m.all.word[1].load();
        if (m.rank() == 0) {
          // Rank 1 does not poll now: a bounded number is taken, then we are told to retry.
          const std::uint64_t before = sent;
          // What it has taken in the last round may have to be told first.
          fill(room.data(), size, sent, 0);
          while (m.fabric.send_medium(1, 1, {{0, sent}}, room.data(), size).retry()) {
            m.idle();
          }
          ++sent;
          for (;;) {
            fill(room.data(), size, sent, 0);
            if (m.fabric.send_medium(1, 1, {{0, sent}}, room.data(), size).retry()) {
              break;
            }
            ++sent;
            require(sent - before < 100000, "nothing bounds what one peer does not read");
          }
          require(sent > before, "nothing was taken");
          // Rank 2 can be reached all the same.
          fill(room.data(), size, round, 0);
          while (m.fabric.send_medium(2, 1, {{0, round}}, room.data(), size).retry()) {
            sched_yield();
          }
          m.all.word[1].store(sent);
          m.all.word[2].store(round + 1);
        } else if (m.rank() == 1) {
          while (m.all.word[2].load() != round + 1 && m.all.failed.load() == 0) {
            sched_yield();
          }
          m.until([&] { return r.total == m.all.word[1].load(); });
        } else {
          m.until([&] { return r.total == round + 1; });
        }
        r.check();
        m.barrier();
      }
    });
  }
}

TEST_P(fabric_contract, reservations_are_bounded_and_come_back) {
  run(2, [](member& m) {
    receiver r(2);
    m.fabric.set_handler(1, &receiver::take, &r);
    m.barrier();
    std::uint64_t number = 0;
    for (int round = 0; round < 4 && m.rank() == 0; ++round) {
      std::vector<packet> held;
      packet p;
      m.until([&] { return m.fabric.reserve(1, p).done(); });
      do {
        held.push_back(p);
      } while (held.size() < 200 && m.fabric.reserve(1, p).done());
      for (packet& q : held) {
        fill(q.data, 100, number, 0);
        while (m.fabric.commit(1, 1, {{0, number}}, q, 100).retry()) {
          m.idle();
        }
        ++number;
      }
      m.all.word[3].store(number);
    }
    m.all.word[4 + m.rank()].store(1);
    m.until([&] {
      r.check();
      return m.all.word[4].load() != 0 && (m.rank() == 0 || r.total == m.all.word[3].load());
    });
    m.barrier();
  });
}

TEST_P(fabric_contract, budget_bounds_a_round) {
  run(2, [](member& m) {
    receiver r(2);
    m.fabric.set_handler(1, &receiver::take, &r);
    m.barrier();
    if (m.rank() == 0) {
      std::vector<std::byte> room(64);
      for (std::uint64_t k = 0; k < 12; ++k) {
        send_somehow(m.fabric, 1, 0, k, 8, 1, room, [&] { sched_yield(); });
      }
      m.all.word[0].store(1);
    } else {
      while (m.all.word[0].load() == 0) {
        sched_yield();
      }
      while (r.total < 12) {
        const std::uint64_t before = r.total;
        m.fabric.progress(5);
        require(r.total - before <= 5, "more than the budget was handled");
      }
    }
    r.check();
    m.barrier();
  });
}

struct echo {
  endpoint* fabric;
  std::uint64_t hops_left;
  std::uint64_t seen = 0;
  bool refused = false;
  static status bounce(void* self, const arrival& a) noexcept {
    auto& me = *static_cast<echo*>(self);
    ++me.seen;
    if (a.head.word[0] != 0) {
      const header next{{a.head.word[0] - 1, 0}};
      me.refused |= me.fabric->send_medium(a.source, 2, next, a.data, a.size).retry();
    }
    return status::ok();
  }
};

TEST_P(fabric_contract, handlers_may_send) {
  run(2, [](member& m) {
    echo e{&m.fabric, 0};
    m.fabric.set_handler(2, &echo::bounce, &e);
    m.barrier();
    constexpr std::uint64_t hops = 2000;
    std::byte room[500] = {};
    if (m.rank() == 0) {
      for (const std::size_t size : {std::size_t{3}, sizeof room}) {
        while (m.fabric.send_medium(1, 2, {{hops - 1, 0}}, room, size).retry()) {
          m.idle();
        }
      }
    }
    m.until([&] { return e.seen == hops || e.refused; });
    require(!e.refused, "a send inside a handler was refused though nothing else is under way");
    m.barrier();
  });
}

/// Refuses each message a few times before it takes it.
struct reluctant {
  receiver takes{1};
  unsigned calls = 0;
  static status take(void* self, const arrival& m) noexcept {
    auto& me = *static_cast<reluctant*>(self);
    if (++me.calls % 3 != 0) {
      return status::again(retry_reason::no_memory);
    }
    return receiver::take(&me.takes, m);
  }
};

TEST_P(fabric_contract, a_refused_message_comes_again_and_in_order) {
  run(2, [](member& m) {
    reluctant r;
    m.fabric.set_handler(1, &reluctant::take, &r);
    m.barrier();
    constexpr std::uint64_t count = 1000;
    if (m.rank() == 0) {
      std::mt19937_64 random(seed());
      std::vector<std::byte> room(m.fabric.bounds().max_medium);
      for (std::uint64_t k = 0; k < count; ++k) {
        const std::size_t size = random() % (random() % 2 == 0 ? 41 : room.size() + 1);
        send_somehow(m.fabric, 1, 0, k, size, static_cast<unsigned>(random()), room,
                     [&] { m.idle(); });
      }
    } else {
      m.until([&] { return r.takes.total == count || !r.takes.problem.empty(); });
      r.takes.check();
      require(r.calls == 3 * count, "a refused message did not come again");
    }
    m.barrier();
  });
}

/// A sleep that had to be ended by its time limit is a lost wake-up.
constexpr std::uint64_t long_sleep_ns = 20'000'000'000;

inline void timed_sleep(endpoint& fabric) {
  const auto start = std::chrono::steady_clock::now();
  fabric.sleep(long_sleep_ns);
  if (std::chrono::steady_clock::now() - start > std::chrono::seconds(15)) {
    require(false, "a wake-up was lost; then progress() brought " +
                       std::to_string(fabric.progress(64)) + " things");
  }
}

inline void spin_a_little(std::mt19937_64& random) {
  for (std::uint64_t i = random() % 2000; i > 0; --i) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

TEST_P(fabric_contract, messages_end_sleep) {
  run(2, [](member& m) {
    receiver r(2);
    m.fabric.set_handler(1, &receiver::take, &r);
    m.barrier();
    std::mt19937_64 random(seed() + static_cast<std::uint64_t>(m.rank()));
    std::vector<std::byte> room(300);
    const std::uint64_t rounds = slow_build ? 1500 : 20000;
    for (std::uint64_t k = 0; k < rounds; ++k) {
      if (m.rank() == 1) {
        while (r.total <= k) {
          if (m.fabric.progress(8) == 0) {
            timed_sleep(m.fabric);
          }
        }
      }
      spin_a_little(random);
      send_somehow(m.fabric, 1 - m.rank(), static_cast<std::uint64_t>(m.rank()), k,
                   random() % room.size(), 2, room, [&] { m.fabric.progress(8); });
      if (m.rank() == 0) {
        while (r.total <= k) {
          if (random() % 2 == 0) {
            spin_a_little(random);
          }
          if (m.fabric.progress(8) == 0) {
            timed_sleep(m.fabric);
          }
        }
      }
      r.check();
    }
    m.barrier();
  });
}

TEST_P(fabric_contract, credit_ends_sleep) {
  run(2, [](member& m) {
    receiver r(2);
    m.fabric.set_handler(1, &receiver::take, &r);
    m.barrier();
    std::mt19937_64 random(seed());
    std::vector<std::byte> room(300);
    const std::uint64_t count = slow_build ? 3000 : 30000;
    if (m.rank() == 0) {
      for (std::uint64_t k = 0; k < count; ++k) {
        send_somehow(m.fabric, 1, 0, k, random() % room.size(), 2, room, [&] {
          m.fabric.progress(8);
          timed_sleep(m.fabric);
        });
      }
    } else {
      while (r.total < count) {
        spin_a_little(random);
        if (m.fabric.progress(16) == 0) {
          timed_sleep(m.fabric);
        }
        r.check();
      }
    }
    m.barrier();
  });
}

TEST_P(fabric_contract, wake_ends_sleep_and_is_not_lost) {
  run(1, [](member& m) {
    std::atomic<std::uint64_t> asked{0};
    std::atomic<std::uint64_t> seen{0};
    const std::uint64_t rounds = slow_build ? 2000 : 20000;
    std::thread other([&] {
      std::mt19937_64 random(seed());
      for (std::uint64_t k = 1; k <= rounds; ++k) {
        spin_a_little(random);
        asked.store(k, std::memory_order_release);
        m.fabric.wake();
        while (seen.load(std::memory_order_acquire) < k) {
          sched_yield();
        }
      }
    });
    std::string problem;
    try {
      for (std::uint64_t k = 1; k <= rounds; ++k) {
        while (asked.load(std::memory_order_acquire) < k) {
          timed_sleep(m.fabric);
        }
        seen.store(k, std::memory_order_release);
      }
    } catch (const std::exception& e) {
      problem = e.what();
      seen.store(rounds);
    }
    other.join();
    require(problem.empty(), problem);
    m.fabric.sleep(1'000'000);  // time ends a sleep as well
  });
}

inline callback count_into(int& counter) {
  return {[](void* a) noexcept { ++*static_cast<int*>(a); }, &counter};
}

TEST_P(fabric_contract, copies_many_pieces_at_once_or_not_at_all) {
  run(2, [](member& m) {
    constexpr std::size_t count = 700;
    constexpr std::size_t stride = 24;
    std::vector<std::byte> mine(count * stride);
    fill(mine.data(), mine.size(), 1, m.rank());
    m.all.exposed[m.rank()].address = reinterpret_cast<std::uintptr_t>(mine.data());
    m.barrier();
    const int peer = 1 - m.rank();
    const std::uint64_t theirs = m.all.exposed[peer].address;
    std::vector<std::byte> got(mine.size());
    std::vector<piece> pieces;
    for (std::size_t i = 0; i < count; ++i) {
      // Some are empty, one is everything that is left.
      const std::size_t bytes = i % stride;
      pieces.push_back({got.data() + i * stride, theirs + i * stride, bytes});
    }
    if (m.fabric.copy_now(job_rank{peer}, direction::in, pieces) == copied::done) {
      std::vector<std::byte> whole(mine.size());
      fill(whole.data(), whole.size(), 1, peer);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const bool wanted = i % stride < i / stride % stride;
        require(got[i] == (wanted ? whole[i] : std::byte{0}), "a byte is wrong");
      }
      m.barrier();
      std::vector<std::byte> sent(2 * stride, std::byte{7});
      const piece two[] = {{sent.data(), theirs, 5}, {sent.data() + 9, theirs + stride, 8}};
      require(m.fabric.copy_now(job_rank{peer}, direction::out, two) == copied::done,
              "allowed in, forbidden out");
      m.barrier();
      require(mine[4] == std::byte{7} && mine[5] == pattern(1, m.rank(), 5) &&
                  mine[stride + 7] == std::byte{7} &&
                  mine[stride + 8] == pattern(1, m.rank(), stride + 8),
              "a byte was written wrongly");
    } else {
      m.barrier();
      m.barrier();
    }
    m.barrier();
  });
}

/// Sizes around every border of the transfer protocols.
inline std::vector<std::size_t> transfer_sizes(std::mt19937_64& random) {
  std::vector<std::size_t> sizes = {
      0,    1,     7,     8,     40,     41,      4095,          8191,    8192,
      8193, 65535, 65536, 65537, 262144, 1 << 20, (1 << 20) + 1, 3 << 20, (5 << 20) + 3};
  for (int i = 0; i < 30; ++i) {
    sizes.push_back(random() % (std::size_t{1} << (random() % 23)));
  }
  return sizes;
}

/// Begins a get as soon as there is room; whether `fired` will tell its end (else it is over).
inline bool get_somehow(member& m, int peer, void* local, const remote_address& from,
                        std::size_t size, int& fired) {
  for (;;) {
    const status s = m.fabric.get(job_rank{peer}, local, from, size, count_into(fired));
    if (!s.retry()) {
      return s.posted();
    }
    m.idle();
  }
}

TEST_P(fabric_contract, get_and_put_of_every_kind_of_size) {
  run(2, [](member& m) {
    std::mt19937_64 random(seed());  // the same on both ranks
    const std::size_t room = (5 << 20) + 4096;
    std::vector<std::byte> mine(room);
    std::vector<std::byte> local(room);
    const auto me = static_cast<std::size_t>(m.rank());
    m.all.exposed[me] = {reinterpret_cast<std::uintptr_t>(mine.data()),
                         m.fabric.expose(mine.data(), room)};
    m.barrier();
    const int peer = 1 - m.rank();
    const remote_address theirs = m.all.exposed[1 - me];
    std::uint64_t k = 0;
    for (const std::size_t size : transfer_sizes(random)) {
      const std::size_t offset = random() % 130;
      const std::size_t skew = random() % 130;
      ++k;
      fill(mine.data() + offset, size, k, m.rank());
      m.barrier();
      int fired = 0;
      const remote_address there{theirs.address + offset, theirs.key};
      const bool posted = get_somehow(m, peer, local.data() + skew, there, size, fired);
      m.until([&] { return !posted || fired == 1; });
      check_filled(local.data() + skew, size, k, peer);
      m.barrier();
      require(fired == (posted ? 1 : 0), "a callback fired wrongly");

      ++k;
      fill(local.data() + skew, size, k, m.rank());
      fired = 0;
      status s = status::ok();
      do {
        s = m.fabric.put(job_rank{peer}, local.data() + skew, there, size, count_into(fired));
        if (s.retry()) {
          m.idle();
        }
      } while (s.retry());
      m.until([&] { return s.done() || fired == 1; });
      std::memset(local.data() + skew, 0, size);
      m.until([&] { return m.fabric.flush(job_rank{peer}).done(); });
      m.barrier();
      check_filled(mine.data() + offset, size, k, peer);
      m.barrier();
    }
    m.fabric.withdraw(m.all.exposed[me].key);
  });
}

TEST_P(fabric_contract, many_gets_at_once) {
  run(3, [](member& m) {
    constexpr std::size_t piece = 30000;
    constexpr std::size_t pieces = 100;
    std::vector<std::byte> mine(piece * pieces);
    fill(mine.data(), mine.size(), 5, m.rank());
    m.all.exposed[m.rank()] = {reinterpret_cast<std::uintptr_t>(mine.data()),
                               m.fabric.expose(mine.data(), mine.size())};
    m.barrier();
    for (int peer = 0; peer < m.size(); ++peer) {
      std::vector<std::byte> local(mine.size());
      const remote_address theirs = m.all.exposed[peer];
      int fired = 0;
      int posted = 0;
      for (std::size_t k = 0; k < pieces; ++k) {
        const remote_address from{theirs.address + k * piece, theirs.key};
        posted += get_somehow(m, peer, local.data() + k * piece, from, piece, fired) ? 1 : 0;
      }
      m.until([&] { return fired == posted; });
      check_filled(local.data(), local.size(), 5, peer);
    }
    m.barrier();
  });
}

/// Whoever gets is asked by the others meanwhile, and all wait for each other's memory.
TEST_P(fabric_contract, all_get_from_all_at_once) {
  run(4, [](member& m) {
    constexpr std::size_t most = 3 << 20;
    std::vector<std::byte> mine(most);
    fill(mine.data(), most, 9, m.rank());
    m.all.exposed[m.rank()] = {reinterpret_cast<std::uintptr_t>(mine.data()),
                               m.fabric.expose(mine.data(), most)};
    std::vector<std::vector<std::byte>> local(static_cast<std::size_t>(m.size()));
    for (const std::size_t size :
         {std::size_t{33'000}, std::size_t{65'536}, std::size_t{300'001}, most}) {
      m.barrier();
      int fired = 0;
      int posted = 0;
      for (int peer = 0; peer < m.size(); ++peer) {
        std::vector<std::byte>& into = local[static_cast<std::size_t>(peer)];
        into.assign(size, std::byte{0});
        posted += get_somehow(m, peer, into.data(), m.all.exposed[peer], size, fired) ? 1 : 0;
      }
      m.until([&] { return fired == posted; });
      for (int peer = 0; peer < m.size(); ++peer) {
        check_filled(local[static_cast<std::size_t>(peer)].data(), size, 9, peer);
      }
    }
    m.barrier();
  });
}

TEST_P(fabric_contract, get_does_not_need_the_source_where_so_promised) {
  run(2, [](member& m) {
    const std::size_t size = 3 << 20;
    std::vector<std::byte> mine(size);
    fill(mine.data(), size, 7, m.rank());
    m.all.exposed[m.rank()] = {reinterpret_cast<std::uintptr_t>(mine.data()),
                               m.fabric.expose(mine.data(), size)};
    m.barrier();
    if (!m.fabric.bounds().direct_copy) {
      return;
    }
    for (const std::size_t n : {std::size_t{100}, std::size_t{100000}, size}) {
      if (m.rank() == 0) {
        std::vector<std::byte> local(n);
        int fired = 0;
        const status s = m.fabric.get(1, local.data(), m.all.exposed[1], n, count_into(fired));
        m.until([&] { return s.done() || fired == 1; });
        check_filled(local.data(), n, 7, 1);
        fill(local.data(), n, 8, 0);
        fired = 0;
        const status t = m.fabric.put(1, local.data(), m.all.exposed[1], n, count_into(fired));
        m.until([&] { return t.done() || fired == 1; });
        m.until([&] { return m.fabric.flush(1).done(); });
        m.all.word[0].store(n);
      } else {
        while (m.all.word[0].load() != n && m.all.failed.load() == 0) {
          sched_yield();  // computes, does not poll
        }
        check_filled(mine.data(), n, 8, 0);
        fill(mine.data(), size, 7, 1);
      }
      m.barrier();
    }
  });
}

/// Waits for one atomic and returns the old value.
inline std::uint64_t do_atomic(member& m, int peer, atomic_op op, const remote_address& at,
                               std::size_t width, std::uint64_t operand,
                               std::uint64_t compare = 0) {
  std::uint64_t old = ~std::uint64_t{0};
  int fired = 0;
  for (;;) {
    const status s =
        m.fabric.atomic(job_rank{peer}, op, at, width, operand, compare, &old, count_into(fired));
    if (s.done()) {
      return old;
    }
    if (s.posted()) {
      m.until([&] { return fired == 1; });
      return old;
    }
    m.idle();
  }
}

inline void atomics_at(member& m, const remote_address& at, const std::uint64_t* words) {
  const std::uint64_t each = 300;
  const auto n = static_cast<std::uint64_t>(m.size());
  std::uint64_t before = 0;
  for (std::uint64_t k = 0; k < each; ++k) {
    const std::uint64_t old = do_atomic(m, 0, atomic_op::fetch_add, at, 8, 1);
    require(k == 0 || old > before, "fetch_add went back");
    before = old;
    const remote_address second{at.address + 8, at.key};
    for (;;) {  // add 3 by compare and swap, 4 bytes wide
      const std::uint64_t seen = do_atomic(m, 0, atomic_op::fetch_or, second, 4, 0);
      if (do_atomic(m, 0, atomic_op::compare_swap, second, 4, seen + 3, seen) == seen) {
        break;
      }
    }
    const remote_address third{at.address + 16, at.key};
    do_atomic(m, 0, atomic_op::fetch_xor, third, 8, std::uint64_t{1} << m.rank());
  }
  m.barrier();
  if (m.rank() == 0) {
    require(words[0] == each * n, "additions were lost");
    require((words[1] & 0xffffffffu) == 3 * each * n, "a compare_swap was not atomic");
    require(words[2] == 0, "an xor was lost");
  }
  m.barrier();
  const remote_address fourth{at.address + 24, at.key};
  const auto mine = static_cast<std::uint64_t>(m.rank()) + 1;
  m.all.word[20 + m.rank()].store(do_atomic(m, 0, atomic_op::swap, fourth, 8, mine));
  m.barrier();
  std::uint64_t sum = do_atomic(m, 0, atomic_op::fetch_and, fourth, 8, ~std::uint64_t{0});
  for (int r = 0; r < m.size(); ++r) {
    sum += m.all.word[20 + r].load();
  }
  require(sum == n * (n + 1) / 2, "a swap lost or doubled a value");
  m.barrier();
}

TEST_P(fabric_contract, atomics) {
  run(3, [](member& m) {
    alignas(64) std::uint64_t words[4] = {};
    if (m.rank() == 0) {
      m.all.exposed[0] = {reinterpret_cast<std::uintptr_t>(words),
                          m.fabric.expose(words, sizeof words)};
      if (m.node_heap != nullptr) {
        m.all.exposed_in_node[0] = {reinterpret_cast<std::uintptr_t>(m.node_heap),
                                    m.fabric.expose(m.node_heap, m.node_heap_bytes)};
      }
    }
    m.barrier();
    atomics_at(m, m.all.exposed[0], words);
    if (m.node_heap != nullptr) {
      atomics_at(m, m.all.exposed_in_node[0], reinterpret_cast<const std::uint64_t*>(m.node_heap));
    }
  });
}

/// A get by a thread that only yields: another thread's progress completes it.
inline void get_while_others_poll(member& m, int peer, std::size_t size) {
  std::vector<std::byte> local(size);
  std::atomic<bool> done{false};
  const callback fire{[](void* a) noexcept { static_cast<std::atomic<bool>*>(a)->store(true); },
                      &done};
  const status s =
      m.fabric.get(job_rank{peer}, local.data(), m.all.exposed[peer], local.size(), fire);
  while (s.posted() && !done.load()) {
    sched_yield();
  }
  if (!s.retry()) {
    check_filled(local.data(), local.size(), 9, peer);
  }
}

TEST_P(fabric_contract, four_threads_send_at_once) {
  if (!GetParam().threads) {
    GTEST_SKIP() << "opened for one thread";
  }
  run(2, [](member& m) {
    constexpr std::size_t senders = 4;
    receiver r(senders);
    m.fabric.set_handler(1, &receiver::take, &r);
    const std::uint64_t count = slow_build ? 1000 : 10000;
    std::vector<std::byte> mine(100000);
    fill(mine.data(), mine.size(), 9, m.rank());
    m.all.exposed[m.rank()] = {reinterpret_cast<std::uintptr_t>(mine.data()),
                               m.fabric.expose(mine.data(), mine.size())};
    m.barrier();
    std::atomic<std::size_t> ended{0};
    std::vector<std::string> problems(senders);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < senders; ++t) {
      threads.emplace_back([&, t] {
        try {
          std::mt19937_64 random(seed() + t);
          std::vector<std::byte> room(2000);
          const int peer = 1 - m.rank();
          for (std::uint64_t k = 0; k < count; ++k) {
            const std::size_t size = random() % 8 == 0 ? random() % room.size() : random() % 64;
            send_somehow(m.fabric, peer, t, k, size, static_cast<unsigned>(random()), room,
                         [&] { sched_yield(); });
            if (k % 100 == 0) {
              get_while_others_poll(m, peer, mine.size());
            }
          }
        } catch (const std::exception& e) {
          problems[t] = e.what();
        }
        ended.fetch_add(1);
        m.fabric.wake();
      });
    }
    const auto over = [&] { return ended.load() == senders; };
    while (!over() || r.total < senders * count) {
      if (m.fabric.progress(64) == 0) {
        sched_yield();
      }
      if (!r.problem.empty() || m.all.failed.load() != 0) {
        break;
      }
    }
    for (std::thread& t : threads) {
      while (!over() && m.all.failed.load() == 0) {
        m.fabric.progress(64);
      }
      t.join();
    }
    r.check();
    for (const std::string& p : problems) {
      require(p.empty(), p);
    }
    m.barrier();
  });
}

}  // namespace sinew::fabric::contract
