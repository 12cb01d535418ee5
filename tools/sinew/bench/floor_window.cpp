// SPDX-License-Identifier: BSD-3-Clause
// What one-sided calls on one node cannot beat: the processor's own loads, stores and atomics on
// memory that another process shares, in loops without anything else.
#include <algorithm>
#include <new>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/bench/floor_parts.hpp"
#include "sinew/bench/stats.hpp"

namespace sinew::tool::floors {
namespace {

constexpr std::size_t longest = 65536;  // bytes
constexpr std::size_t words = longest / sizeof(std::uint64_t);
constexpr int batches = 25;

struct shared_words {
  line word;
  alignas(64) std::uint64_t many[words];
};

/// The median of batches of `one`, in microseconds, as the rows of bench/rma.
template <class Fn>
void time_one(const char* name, std::size_t bytes, int repetitions, Fn&& one) {
  SINEW_EXPECT(repetitions > 0);
  std::vector<double> ns;
  for (int b = -2; b < batches; ++b) {  // the first two warm up
    const auto begin = clock_type::now();
    for (int i = 0; i < repetitions; ++i) {
      one();
      asm volatile("" : : : "memory");
    }
    if (b >= 0) {
      ns.push_back(ns_since(begin) / repetitions);
    }
  }
  report(name, "latency", "us", "ranks=2,bytes=" + std::to_string(bytes),
         stats::median_of(ns) / 1e3);
}

// Several sums at once: compilers make that of a loop of known length without overlap.
[[gnu::noinline]] void add(std::uint64_t* __restrict to, const std::uint64_t* __restrict from) {
  for (std::size_t i = 0; i < words; ++i) {
    to[i] += from[i];
  }
}

}  // namespace

void windows() {
  constexpr int many = 20000;
  void* const memory = shared_memory(sizeof(shared_words));
  if (memory == nullptr) {
    return;
  }
  auto* const shared = new (memory) shared_words;
  std::vector<std::uint64_t> from(words, 1);
  std::atomic<std::uint64_t>& word = shared->word.word;
  time_one("put", 8, many, [&] { word.store(from[0], std::memory_order_release); });
  time_one("get", 8, many, [&] { from[1] = word.load(std::memory_order_acquire); });
  time_one("fetch-and-op", 8, many, [&] { from[1] = word.fetch_add(1); });
  time_one("compare-and-swap", 8, many, [&] {
    std::uint64_t expected = word.load(std::memory_order_relaxed);
    (void)word.compare_exchange_strong(expected, expected);
  });
  time_one("accumulate", 8, many, [&] { word.fetch_add(1); });
  time_one("accumulate", longest, 200, [&] { add(shared->many, from.data()); });
  time_one("lock-unlock", 0, many, [&] {
    std::uint64_t expected = word.load(std::memory_order_relaxed);
    (void)word.compare_exchange_strong(expected, expected | 1);
    word.store(expected, std::memory_order_release);
  });
}

}  // namespace sinew::tool::floors
