// SPDX-License-Identifier: BSD-3-Clause
// How fast the rma module is by itself: pinned processes over shared memory, no binding above.
// For work on the hot path; `sinew bench` is what compares with the peers.
// `rma_bench [RANKS]`: 2 measures everything, more only what is synchronised. `rma_bench 2 KIB`:
// long copies up to that size, through and around the caches.
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "sinew/base/clock.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/rma/barrier.hpp"
#include "sinew/rma/lock.hpp"
#include "support/rma_job.hpp"

namespace {

using sinew::now_ns;
using sinew::rma::axis;
using sinew::rma::outside;
using sinew::rma::part;
using sinew::rma::place;
using sinew::rma::until;
using sinew::test::rma_member;

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// Median and best over repeats of the time of one of `rounds`; all ranks take part.
void measure(rma_member& m, const char* name, int rounds, double per_round,
             const std::function<void(int)>& body) {
  std::vector<double> ns;
  for (int repeat = 0; repeat < 15; ++repeat) {
    m.rma.sync_all();
    const auto from = now_ns();
    for (int i = 0; i < rounds; ++i) {
      body(i);
    }
    ns.push_back(static_cast<double>(now_ns() - from) / rounds / per_round);
  }
  std::sort(ns.begin(), ns.end());
  if (m.rank == 0) {
    std::printf("%-34s median %10.1f ns  best %10.1f ns\n", name, ns[ns.size() / 2], ns[0]);
    std::fflush(stdout);
  }
  m.rma.sync_all();
}

/// Only rank 0 does it.
void one_sided(rma_member& m, const char* name, int rounds, const std::function<void(int)>& body) {
  measure(m, name, m.rank == 0 ? rounds : 0, 1, body);
}

/// A bare cache line's round trip, to compare with.
void line_trip(rma_member& m, std::uint64_t box) {
  const std::atomic_ref<std::uint64_t> mine(
      *reinterpret_cast<std::uint64_t*>(m.rma.at({sinew::job_rank{m.rank}, box})));
  const std::atomic_ref<std::uint64_t> theirs(
      *reinterpret_cast<std::uint64_t*>(m.rma.at({sinew::job_rank{1 - m.rank}, box})));
  std::uint64_t k = mine.load();
  measure(m, "one way of a line (bare)", 20000, 2, [&](int) {
    ++k;
    if (m.rank == 0) {
      theirs.store(k, std::memory_order_release);
    }
    while (mine.load(std::memory_order_acquire) != k) {
    }
    if (m.rank == 1) {
      theirs.store(k, std::memory_order_release);
    }
  });
}

void synchronisation(rma_member& m) {
  const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 4096);
  const int rounds = m.size > 2 ? 500 : 20000;
  measure(m, "sync all", rounds, 1, [&](int) { m.rma.sync_all(); });
  const sinew::job_rank others[] = {m.next(), m.previous()};
  const std::span<const sinew::job_rank> partners(others, m.size > 2 ? 2 : 1);
  measure(m, "sync with neighbours", rounds, 1, [&](int) { m.rma.sync_with(partners); });
  std::uint64_t k = 0;
  if (m.rank < 2) {
    for (int repeat = 0; repeat < 15; ++repeat) {
      const auto from = now_ns();
      for (int i = 0; i < rounds; ++i) {
        ++k;
        if (m.rank == 0) {
          m.rma.put_notify({1, box + 64}, &k, 8, box);
        }
        (void)m.rma.wait(box, until::at_least, k);
        if (m.rank == 1) {
          m.rma.put_notify({0, box + 64}, &k, 8, box);
        }
      }
      if (m.rank == 0 && repeat % 5 == 4) {
        std::printf("8 B put with notice, one way       %10.1f ns\n",
                    static_cast<double>(now_ns() - from) / rounds / 2);
      }
    }
  }
  sinew::rma::lock_table locks(m.rma);
  const place lock{0, box + 128};
  measure(m, "lock and unlock, all ranks", rounds / 4, 1, [&](int) {
    (void)locks.acquire(lock);
    (void)locks.release(lock);
  });
  const std::uint64_t come = box + 256;
  measure(m, "post and take around a ring", rounds, 1, [&](int) {
    m.rma.post({m.next(), come});
    m.rma.take(come);
  });
}

void small(rma_member& m) {
  const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 1 << 20);
  std::vector<std::uint64_t> data(4096, 5);
  std::uint64_t x = 1;
  line_trip(m, box);
  one_sided(m, "8 B put, one place", 100000, [&](int) { m.rma.put({1, box}, &x, 8); });
  one_sided(m, "8 B put, in a row", 100000,
            [&](int i) { m.rma.put({1, box + static_cast<std::uint64_t>(i % 8192) * 8}, &x, 8); });
  measure(m, "8 B get that the owner writes", 20000, 1, [&](int i) {
    // Own puts keep the line at home, so that each get fetches it.
    const std::uint64_t value = static_cast<std::uint64_t>(i);
    m.rma.put({sinew::job_rank{m.rank}, box + 4096}, &value, 8);
    m.rma.get(&x, {sinew::job_rank{1 - m.rank}, box + 4096}, 8);
  });
  one_sided(m, "8 B get, one place, in cache", 100000, [&](int) { m.rma.get(&x, {1, box}, 8); });
  one_sided(m, "fetch_add, uncontended", 100000,
            [&](int) { (void)m.rma.fetch_add<std::uint64_t>({1, box}, 1); });
  one_sided(m, "flush", 100000, [&](int) { m.rma.flush(1); });
  one_sided(m, "signal", 100000, [&](int) { m.rma.signal(1); });
  if (m.rank == 1) {
    for (int i = 0; i < 15 * 100000; ++i) {
      m.rma.await(0);
    }
  }
  const axis other{1000, 8, 16};
  one_sided(m, "1,000 of 8 B, every second, put", 2000,
            [&](int) { m.rma.put_section({1, box}, data.data(), 8, {&other, 1}); });
  const axis far{1000, 8, 80};
  one_sided(m, "1,000 of 8 B, every tenth, put", 2000,
            [&](int) { m.rma.put_section({1, box}, data.data(), 8, {&far, 1}); });
  std::vector<std::int64_t> index(1000);
  for (std::size_t i = 0; i < index.size(); ++i) {
    index[i] = static_cast<std::int64_t>(i * 7919 % 1000);
  }
  axis list{1000, 8, 8};
  list.far_index = index.data();
  one_sided(m, "1,000 of 8 B by a list, get", 2000,
            [&](int) { m.rma.get_section(data.data(), {1, box}, 8, {&list, 1}); });
}

void outside_memory(rma_member& m) {
  std::vector<std::uint64_t> mine(1 << 16, 3);
  m.all.word[m.rank].store(reinterpret_cast<std::uintptr_t>(mine.data()));
  m.meet();
  const outside there = outside::of(sinew::job_rank{1 - m.rank}, m.all.word[1 - m.rank].load());
  std::vector<std::uint64_t> data(1 << 16, 5);
  for (const std::size_t n : {8U, 4096U, 65536U}) {
    const std::string size = std::to_string(n) + " B outside";
    one_sided(m, (size + ", put").c_str(), 1000, [&](int) { m.rma.put(there, data.data(), n); });
    one_sided(m, (size + ", get").c_str(), 1000, [&](int) { m.rma.get(data.data(), there, n); });
  }
  const axis tenth{1000, 8, 80};
  one_sided(m, "1,000 of 8 B outside, get", 100,
            [&](int) { m.rma.get_section(data.data(), there, 8, {&tenth, 1}); });
  one_sided(m, "1,000 of 8 B outside, put", 100,
            [&](int) { m.rma.put_section(there, data.data(), 8, {&tenth, 1}); });
}

/// Median time of `body`, with copies through and around the caches in turns.
void both_ways(rma_member& m, const std::string& name, double per, int rounds,
               const std::function<void()>& body) {
  std::vector<double> ns[2];
  sinew::setting_base* limit = sinew::settings::find("SINEW_RMA_STREAM_FROM");
  for (int repeat = 0; repeat < 18; ++repeat) {
    limit->parse(repeat % 2 == 0 ? "1G" : "1");
    m.rma.sync_all();
    const auto from = now_ns();
    for (int i = 0; i < rounds; ++i) {
      body();
    }
    ns[repeat % 2].push_back(static_cast<double>(now_ns() - from) / rounds / per);
    m.rma.sync_all();
  }
  for (auto& n : ns) {
    std::sort(n.begin(), n.end());
  }
  if (m.rank == 0) {
    std::printf("%-28s through %8.1f (best %8.1f) us   around %8.1f (best %8.1f) us\n",
                name.c_str(), ns[0][4] / 1e3, ns[0][0] / 1e3, ns[1][4] / 1e3, ns[1][0] / 1e3);
    std::fflush(stdout);
  }
}

/// Long transfers: to a target that the other rank reads, that nobody reads, and gets.
void bandwidth(rma_member& m, std::size_t most) {
  const std::uint64_t box = m.rma.memory().allocate(part::symmetric, most);
  const std::uint64_t come = m.rma.memory().allocate(part::symmetric, 64);
  std::vector<std::byte> data(most, std::byte{1});
  std::vector<std::byte> sink(most);
  std::uint64_t k = 0;
  std::memset(m.rma.at({sinew::job_rank{m.rank}, box}), 1, most);
  for (std::size_t n = 8 << 10; n <= most; n *= 2) {
    const int rounds = static_cast<int>((16 << 20) / n) + 1;
    const std::string size = std::to_string(n >> 10) + " KiB ";
    for (const bool read : {true, false}) {
      both_ways(m, size + (read ? "put, read there" : "put"), 2, rounds, [&] {
        ++k;
        for (const int turn : {0, 1}) {
          if (m.rank == turn) {
            m.rma.put_notify({sinew::job_rank{1 - turn}, box}, data.data(), n, come);
          } else {
            (void)m.rma.wait(come, until::at_least, k);
            std::uint64_t sum = 0;
            for (std::size_t i = 0; read && i < n; i += 64) {
              sum += static_cast<std::uint64_t>(*m.rma.at({sinew::job_rank{m.rank}, box + i}));
            }
            asm volatile("" ::"r"(sum));
          }
        }
      });
    }
    both_ways(m, size + "get", 1, rounds, [&] {
      if (m.rank == 0) {
        m.rma.get(sink.data(), {1, box}, n);
      }
    });
    both_ways(m, size + "get what was changed", 1, rounds, [&] {
      if (m.rank == 1) {
        std::memset(m.rma.at({1, box}), 1, n);
      }
      m.rma.sync_all();
      if (m.rank == 0) {
        m.rma.get(sink.data(), {1, box}, n);
      }
      m.rma.sync_all();
    });
    one_sided(m, (size + "memcpy").c_str(), rounds,
              [&](int) { std::memcpy(sink.data(), data.data(), n); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  sinew::settings::load_environment();
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 2;
  const std::size_t largest = argc > 2 ? std::strtoul(argv[2], nullptr, 10) << 10 : 0;
  sinew::test::rma_setup how;
  how.kind = sinew::test::ranks_as::processes;
  how.sizes = {std::size_t{64} << 20, std::size_t{1} << 20};
  sinew::test::rma_job job(ranks, how);
  const std::string problem = job.run([&](rma_member& m) {
    if (ranks == 2) {
      pin(m.rank);
      if (largest != 0) {
        bandwidth(m, largest);
        return;
      }
      small(m);
      outside_memory(m);
    }
    synchronisation(m);
  });
  std::printf("%s", problem.c_str());
  return problem.empty() ? 0 : 1;
}
