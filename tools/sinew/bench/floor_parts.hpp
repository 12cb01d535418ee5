// SPDX-License-Identifier: BSD-3-Clause
// What the floors' measurements share: two processes on two cores, and lines between them. Only
// files of the floor probe include this.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sinew::tool::floors {

using clock_type = std::chrono::steady_clock;

struct alignas(64) line {
  std::atomic<std::uint64_t> word{0};
};

/// Two lines, 128 bytes apart at least, so that the adjacent-line prefetcher of some processors
/// does not couple them. In memory that two processes share.
struct line_pair {
  line there, gap0, back, gap1;
};

[[nodiscard]] double ns_since(clock_type::time_point begin);

/// Prints "@ name metric unit params value", with " line=..." where `line_ns` is positive.
void report(const char* name, const char* metric, const char* unit, const std::string& params,
            double value, double line_ns = 0);

void pin(int cpu);

/// Tells the processor that this thread polls.
void relax();

/// Waits until the line holds `value` or more; numbers ascend. The message is the number itself:
/// its acquire pairs with the writer's release. Does not suspend.
void await(const line& l, std::uint64_t value);

/// Runs `theirs` in a forked process on another core and `ours` here. The partner dies with us; it
/// is always waited for.
void beside(int our_cpu, int their_cpu, const std::function<void()>& theirs,
            const std::function<void()>& ours);

/// One side of many one-way trips over a pair; both sides call it equally often. Returns the trip
/// in ns, the median of five short batches.
[[nodiscard]] double quick_trip(line_pair& pair, bool first, std::uint64_t& number);

/// Memory for `bytes` that forked processes share, zeroed; lives as long as the process. Null if
/// the system refuses.
[[nodiscard]] void* shared_memory(std::size_t bytes);

/// Messages between two processes without any protocol: case `transfer` (latency of `bytes`) and
/// `stream` (bandwidth), in several ways: copied in pieces through shared memory by both sides at
/// once, and by the kernel from one process to the other.
void transfers(const std::vector<std::size_t>& sizes, int our_cpu, int their_cpu);
void streams(const std::vector<std::size_t>& sizes, int our_cpu, int their_cpu);

/// Loads, stores, atomics and sums on shared memory by one process, as rows of experiment `rma`.
void windows();

}  // namespace sinew::tool::floors
