// SPDX-License-Identifier: BSD-3-Clause
// Algorithms of TBB with so many threads: says whether their results are right, and how many
// seconds they took.
#include <tbb/tbb.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int rounds = 6;
constexpr std::size_t numbers = 2'000'000;

bool sorts() {
  std::vector<std::uint32_t> all(numbers);
  std::uint32_t state = 1;
  for (std::uint32_t& each : all) {
    each = state = state * 1664525 + 1013904223;
  }
  tbb::parallel_sort(all.begin(), all.end());
  return std::is_sorted(all.begin(), all.end());
}

bool sums() {
  const auto sum = tbb::parallel_reduce(
      tbb::blocked_range<std::uint64_t>(0, 100'000'000), std::uint64_t{0},
      [](const tbb::blocked_range<std::uint64_t>& part, std::uint64_t sum) {
        for (std::uint64_t i = part.begin(); i != part.end(); ++i) {
          sum += i ^ (i >> 3U);
        }
        return sum;
      },
      [](std::uint64_t one, std::uint64_t other) { return one + other; });
  static const std::uint64_t first = sum;
  return sum == first;
}

/// Many small tasks.
std::uint64_t fibonacci(int n) {
  if (n < 14) {
    return n < 2 ? static_cast<std::uint64_t>(n) : fibonacci(n - 1) + fibonacci(n - 2);
  }
  std::uint64_t one = 0;
  std::uint64_t other = 0;
  tbb::parallel_invoke([&] { one = fibonacci(n - 1); }, [&] { other = fibonacci(n - 2); });
  return one + other;
}

bool flows() {
  int next = 0;
  std::uint64_t sum = 0;
  tbb::parallel_pipeline(
      16, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                      [&](tbb::flow_control& flow) {
                                        if (next == 20'000) {
                                          flow.stop();
                                        }
                                        return next++;
                                      }) &
              tbb::make_filter<int, std::uint64_t>(
                  tbb::filter_mode::parallel,
                  [](int value) { return static_cast<std::uint64_t>(value) * 2; }) &
              tbb::make_filter<std::uint64_t, void>(tbb::filter_mode::serial_in_order,
                                                    [&](std::uint64_t value) { sum += value; }));
  return sum == 20'000ULL * 19'999;
}

}  // namespace

int main(int count, char** words) {
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                    count > 1 ? std::strtoul(words[1], nullptr, 10) : 2);
  const auto before = std::chrono::steady_clock::now();
  bool right = true;
  for (int i = 0; i < rounds; ++i) {
    right = sorts() && sums() && fibonacci(30) == 832040 && flows() && right;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  std::printf("%s %.4f\n", right ? "right" : "wrong", took.count());
  return right ? 0 : 1;
}
