// SPDX-License-Identifier: BSD-3-Clause
// How a pool of packets is measured; each subject brings an adapter
//   struct pool { explicit pool(int threads);   // holds 64 packets
//                 class user;                   // one per thread: user(pool&, int me)
//                                               //   void* get(); void put(void*); };
// uncontended    one thread, a get and a put of one packet in turn.
// burst method=paper    as the original did it (Dang et al. 2016): a round is 4 T bursts of n gets,
// a sleep
//                of n us and n puts, n in [1, 64/T] from the same seed for all. The clock stops for
//                the sleep: two calls of it a burst are in the figure, a round's time divided by
//                its packets. With a small n they are most of it, for all alike; the floor is the
//                same loop without a pool.
// burst method=steady  the same bursts without sleep and without clock inside: 64 of them timed
//                together.
// A figure is ns for one get and one put together, the median over all threads.
#ifndef SINEW_BENCH_POOL_BENCH_HPP
#define SINEW_BENCH_POOL_BENCH_HPP

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../common/micro.hpp"

namespace micro {

inline constexpr int pool_packets = 64;

/// n for each of many bursts, the same for every subject.
inline std::vector<int> burst_sizes(int threads, int me) {
  std::mt19937 random(static_cast<unsigned>(1234 + me));
  std::uniform_int_distribution<int> size(1, std::max(1, pool_packets / threads));
  std::vector<int> sizes(64);
  for (int& n : sizes) {
    n = size(random);
  }
  return sizes;
}

template <class Pool>
double paper_bursts(int threads, double budget_ms) {
  Pool pool(threads);
  rounds r(threads, budget_ms);
  std::vector<std::vector<double>> samples(static_cast<std::size_t>(threads));
  crew(threads, [&](int me) {
    typename Pool::user user(pool, me);
    const std::vector<int> sizes = burst_sizes(threads, me);
    std::vector<void*> held(pool_packets);
    std::size_t next = 0;
    while (r.another(me)) {
      double spent = 0;
      int packets = 0;
      double begin = now_ns();
      for (int burst = 0; burst < 4 * threads; ++burst) {
        const int n = sizes[next++ % sizes.size()];
        for (int i = 0; i < n; ++i) {
          held[static_cast<std::size_t>(i)] = user.get();
        }
        spent += now_ns() - begin;
        std::this_thread::sleep_for(std::chrono::microseconds(n));
        begin = now_ns();
        for (int i = 0; i < n; ++i) {
          user.put(held[static_cast<std::size_t>(i)]);
        }
        packets += n;
      }
      spent += now_ns() - begin;
      samples[static_cast<std::size_t>(me)].push_back(spent / packets);
    }
  });
  std::vector<double> all;
  for (const auto& part : samples) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return median(all);
}

template <class Pool>
double steady_bursts(int threads, double budget_ms) {
  Pool pool(threads);
  rounds r(threads, budget_ms);
  std::vector<std::vector<double>> samples(static_cast<std::size_t>(threads));
  crew(threads, [&](int me) {
    typename Pool::user user(pool, me);
    const std::vector<int> sizes = burst_sizes(threads, me);
    std::vector<void*> held(pool_packets);
    int packets = 0;
    for (const int n : sizes) {
      packets += n;
    }
    while (r.another(me)) {
      for (int batch = 0; batch < 8; ++batch) {
        const double begin = now_ns();
        for (const int n : sizes) {
          for (int i = 0; i < n; ++i) {
            held[static_cast<std::size_t>(i)] = user.get();
          }
          for (int i = 0; i < n; ++i) {
            user.put(held[static_cast<std::size_t>(i)]);
          }
        }
        samples[static_cast<std::size_t>(me)].push_back((now_ns() - begin) / packets);
      }
    }
  });
  std::vector<double> all;
  for (const auto& part : samples) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return median(all);
}

template <class Pool>
double uncontended(double budget_ms) {
  Pool pool(1);
  std::vector<double> samples;
  crew(1, [&](int me) {
    typename Pool::user user(pool, me);
    constexpr int pairs = 1000;
    for (rounds r(1, budget_ms); r.another(me);) {
      const double begin = now_ns();
      for (int i = 0; i < pairs; ++i) {
        void* const packet = user.get();
        use(packet);
        user.put(packet);
      }
      samples.push_back((now_ns() - begin) / pairs);
    }
  });
  return median(samples);
}

template <class Pool>
int pool_main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  report("uncontended", "threads=1", uncontended<Pool>(o.budget_ms));
  for (const int threads : o.threads) {
    if (threads > pool_packets) {
      continue;
    }
    const std::string params = "threads=" + std::to_string(threads);
    report("burst", params + ",method=steady", steady_bursts<Pool>(threads, o.budget_ms));
    report("burst", params + ",method=paper", paper_bursts<Pool>(threads, o.budget_ms * 2));
  }
  return 0;
}

/// A get that must succeed in the end: the drivers never ask for more than there is.
template <class TryGet>
void* insist(TryGet&& try_get) {
  for (;;) {
    if (void* const packet = try_get()) {
      return packet;
    }
    std::this_thread::yield();
  }
}

/// What the others pool: 64 packets of the size that ours have, which nobody touches.
inline void* some_packet(int i) {
  static std::vector<char> memory(std::size_t{pool_packets} * 4096);
  return memory.data() + static_cast<std::size_t>(i) * 4096;
}

/// The adapter for one container that all threads share, with push(packet) and pop(packet).
template <class Container>
struct shared_container {
  explicit shared_container(int /*threads*/) {
    for (int i = 0; i < pool_packets; ++i) {
      free.push(some_packet(i));
    }
  }
  struct user {
    user(shared_container& p, int /*me*/) : free(p.free) {}
    void* get() {
      return insist([this] {
        void* packet = nullptr;
        return free.pop(packet) ? packet : nullptr;
      });
    }
    void put(void* packet) { free.push(packet); }
    Container& free;
  };
  Container free;
};

}  // namespace micro

#endif
