// SPDX-License-Identifier: BSD-3-Clause
// How a concurrent table is measured; each subject brings an adapter
//   struct table { explicit table(int threads); bool put(uint64_t key, void* value);
//                  void* hit(uint64_t key, void* value); };
// put() stores under a key that is not there, hit() finds the value under a key that is there and
// erases it. Two methods:
// method=paper    as the original did it (Dang et al. 2016, figure of the hash tables): 32
// operations per
//                thread on keys i*T+t, 8 MiB of memory written between rounds, only thread 0 timed.
// method=steady  4096 operations per thread on mixed keys (no hash function gains from their being
//                small and dense), warm, every thread timed; the median batch.
// In both a batch is timed as a whole and divided, the clock's two calls included.
#ifndef SINEW_BENCH_TABLE_BENCH_HPP
#define SINEW_BENCH_TABLE_BENCH_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "../common/micro.hpp"

namespace micro {

/// One to one: the keys stay different.
inline std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

struct table_method {
  const char* name;
  int operations;
  bool mix;
  bool sweep;
  bool only_first;
};
inline constexpr table_method table_methods[] = {{"steady", 4096, true, false, false},
                                                 {"paper", 32, false, true, true}};

template <class Table>
void measure_table(const table_method& how, int threads, double budget_ms) {
  Table table(threads);
  rounds r(threads, budget_ms);
  std::vector<std::vector<double>> puts(static_cast<std::size_t>(threads));
  auto hits = puts;
  crew(threads, [&](int me) {
    std::vector<std::uint64_t> keys;
    for (int i = 0; i < how.operations; ++i) {
      const auto key = static_cast<std::uint64_t>(i * threads + me);
      keys.push_back(how.mix ? mixed(key + 1) : key);
    }
    sweeper dirt(how.sweep && me == 0 ? std::size_t{8} << 20 : 0);
    int word = 0;
    void* const mine = &word;
    while (r.another(me)) {
      dirt.sweep();
      r.meet();
      bool fresh = true;
      double begin = now_ns();
      for (const std::uint64_t key : keys) {
        fresh &= table.put(key, mine);
      }
      const double put_ns = now_ns() - begin;
      if (!fresh) {
        wrong("a new key was found");
      }
      r.meet();
      bool found = true;
      begin = now_ns();
      for (const std::uint64_t key : keys) {
        found &= table.hit(key, mine) == mine;
      }
      const double hit_ns = now_ns() - begin;
      if (!found) {
        wrong("a stored key was not found");
      }
      if (how.only_first && me != 0) {
        continue;
      }
      puts[static_cast<std::size_t>(me)].push_back(put_ns / how.operations);
      hits[static_cast<std::size_t>(me)].push_back(hit_ns / how.operations);
    }
  });
  const auto all = [](const std::vector<std::vector<double>>& parts) {
    std::vector<double> joined;
    for (const auto& part : parts) {
      joined.insert(joined.end(), part.begin(), part.end());
    }
    return median(joined);
  };
  const std::string params =
      "threads=" + std::to_string(threads) + ",method=" + std::string(how.name);
  report("insert-new", params, all(puts));
  report("hit-erase", params, all(hits));
}

/// Steady for both when the subject has only one way.
template <class Steady, class Seed = Steady>
int table_main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  for (const int threads : o.threads) {
    measure_table<Steady>(table_methods[0], threads, o.budget_ms);
    measure_table<Seed>(table_methods[1], threads, o.budget_ms);
  }
  return 0;
}

}  // namespace micro

#endif
