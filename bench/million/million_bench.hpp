// SPDX-License-Identifier: BSD-3-Clause
// A crowd of threads of one process, on one processor: all are made, all wait at one gate at the
// same time, all go through it and end. Sinew's fibers and what other libraries and languages have.
//   crowd-spawn     from before the first is made until all wait, divided by their number
//   crowd-end       from the opening of the gate until the last is joined, divided likewise
//   crowd memory    growth of this process's resident memory from before the first is made until
//                   all wait, divided likewise
//   crowd limit     in the place of these: how many it can have at once, if that is fewer
// Words: threads=N stack=BYTES. Stacks whose size can be chosen have that, 16 KiB if not said.
//
// A subject brings a class:
//   bool make(std::size_t stack);    one more, that calls arrive() and waits; false: no more
//   void await(int count);           until so many have called arrive()
//   void open();                     the gate
//   void join_all();
#ifndef SINEW_BENCH_MILLION_BENCH_HPP
#define SINEW_BENCH_MILLION_BENCH_HPP

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "../common/micro.hpp"

namespace micro {

inline std::atomic<int> arrived{0};
inline void arrive() { arrived.fetch_add(1, std::memory_order_release); }

inline double resident_bytes() {
  long total = 0;
  long resident = 0;
  if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &total, &resident) != 2) {
      resident = 0;
    }
    std::fclose(f);
  }
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// Bytes that the machine has left, or 0 where it does not say.
inline double free_bytes() {
  double kib = 0;
  if (std::FILE* f = std::fopen("/proc/meminfo", "r")) {
    char line[160];
    while (std::fgets(line, sizeof line, f) != nullptr &&
           std::sscanf(line, "MemAvailable: %lf kB", &kib) != 1) {
    }
    std::fclose(f);
  }
  return kib * 1024;
}

template <class Subject>
int crowd_main(int argc, char** argv) {
  const int count = numbers(argc, argv, "threads", {10000}).front();
  const int stack = numbers(argc, argv, "stack", {16384}).front();
  const std::string params = "threads=" + std::to_string(count);
  pin(0);
  // A machine that is short of memory ends whom it likes, so half of it is left alone.
  const double each = static_cast<double>(stack);
  const double have = free_bytes() / 2;
  if (have > 0 && each * count > have) {
    report_row("crowd", "limit", "threads", params + ",limit=memory", have / each);
    return 0;
  }
  Subject crowd;
  const double before = resident_bytes();
  const double begin = now_ns();
  for (int made = 0; made < count; ++made) {
    if (!crowd.make(static_cast<std::size_t>(stack))) {
      crowd.await(made);
      crowd.open();
      crowd.join_all();
      report_row("crowd", "limit", "threads", params, made);
      return 0;
    }
  }
  crowd.await(count);
  const double all_wait = now_ns();
  const double grown = resident_bytes() - before;
  const double opened = now_ns();
  crowd.open();
  crowd.join_all();
  const double ended = now_ns();
  report_row("crowd-spawn", "latency", "ns", params, (all_wait - begin) / count);
  report_row("crowd-end", "latency", "ns", params, (ended - opened) / count);
  report_row("crowd", "memory", "B/thread", params, grown / count);
  return 0;
}

}  // namespace micro

#endif
