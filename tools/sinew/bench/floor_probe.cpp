// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/floor_probe.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "sinew/bench/floor_parts.hpp"
#include "sinew/bench/stats.hpp"

namespace sinew::tool {
namespace {

using namespace floors;

// Many short batches: on a busy machine few of them lose the processor, and the median is none of
// those.
constexpr int batches = 400;
constexpr std::size_t medians = 40;  // batches of which one number is made
constexpr int ring_slots = 64;
static_assert(batches % medians == 0);

// Two lines of each kind lie 128 bytes apart at least, so that the adjacent-line prefetcher of
// some processors does not couple them.
struct shared_area {
  line_pair pair;
  line ring_there[ring_slots], gap2, ring_back[ring_slots], gap3;
  line consumed, gap4;
  std::atomic<std::uint32_t> futex_there{0};
  line gap5;
  std::atomic<std::uint32_t> futex_back{0};
};

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    return cpus;
  }
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

// One line each way, written and read in turn: the same two (`mask` 0), or the next of a ring in
// each direction (its slots less one), as a message queue uses them.
void line_trip(const char* kind, line* there, line* back, std::uint64_t mask, int our_cpu,
               int their_cpu) {
  constexpr std::uint64_t warm = 20000, per_batch = 1000, total = warm + batches * per_batch;
  std::vector<double> samples;
  beside(
      our_cpu, their_cpu,
      [&] {
        for (std::uint64_t i = 1; i <= total; ++i) {
          await(there[i & mask], i);
          back[i & mask].word.store(i, std::memory_order_release);
        }
      },
      [&] {
        auto begin = clock_type::now();
        for (std::uint64_t i = 1; i <= total; ++i) {
          there[i & mask].word.store(i, std::memory_order_release);
          await(back[i & mask], i);
          if (i >= warm && (i - warm) % per_batch == 0) {
            if (i > warm) {
              samples.push_back(ns_since(begin) / (2.0 * per_batch));
            }
            begin = clock_type::now();
          }
        }
      });
  // A few medians, so that each is of one state of the machine; a trip is its own state.
  for (std::size_t at = 0; at < samples.size(); at += medians) {
    const std::vector<double> some(samples.begin() + std::ptrdiff_t(at),
                                   samples.begin() + std::ptrdiff_t(at + medians));
    const double trip = stats::median_of(some);
    report("line", "latency", "ns", kind, trip, trip);
  }
}

// One-way stream of lines: the writer may be a ring ahead; the reader gives credit every quarter.
void line_stream(shared_area& a, int our_cpu, int their_cpu) {
  constexpr std::uint64_t warm = 1 << 16, per_batch = 1 << 14, total = warm + batches * per_batch;
  for (auto& slot : a.ring_there) {
    slot.word.store(0, std::memory_order_relaxed);
  }
  a.consumed.word.store(0, std::memory_order_relaxed);
  std::vector<double> samples;
  beside(
      our_cpu, their_cpu,
      [&a] {
        for (std::uint64_t i = 1; i <= total; ++i) {
          await(a.ring_there[i % ring_slots], i);
          if (i % (ring_slots / 4) == 0) {
            a.consumed.word.store(i, std::memory_order_release);
          }
        }
      },
      [&] {
        std::uint64_t credit = 0;
        auto begin = clock_type::now();
        for (std::uint64_t i = 1; i <= total; ++i) {
          while (i - credit > ring_slots) {
            credit = a.consumed.word.load(std::memory_order_acquire);
            if (i - credit > ring_slots) {
              relax();
            }
          }
          a.ring_there[i % ring_slots].word.store(i, std::memory_order_release);
          if (i >= warm && (i - warm) % per_batch == 0) {
            if (i > warm) {
              samples.push_back(1e3 * double(per_batch) / ns_since(begin));
            }
            begin = clock_type::now();
          }
        }
      });
  report("line-stream", "rate", "Mmsg/s", "kind=ring", stats::median_of(samples));
}

void futex_call(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

void futex_await(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  for (;;) {
    const std::uint32_t now = word.load(std::memory_order_acquire);
    if (now == value) {
      return;
    }
    futex_call(word, FUTEX_WAIT, now);
  }
}

// Two processes on one core hand over by futex: what a hop costs when ranks share a core.
void futex_switch(shared_area& a, int cpu) {
  constexpr std::uint32_t per_batch = 50, total = (batches + 1) * per_batch;
  std::vector<double> samples;
  beside(
      cpu, cpu,
      [&a] {
        for (std::uint32_t i = 1; i <= total; ++i) {
          futex_await(a.futex_there, i);
          a.futex_back.store(i, std::memory_order_release);
          futex_call(a.futex_back, FUTEX_WAKE, 1);
        }
      },
      [&] {
        auto begin = clock_type::now();
        for (std::uint32_t i = 1; i <= total; ++i) {
          a.futex_there.store(i, std::memory_order_release);
          futex_call(a.futex_there, FUTEX_WAKE, 1);
          futex_await(a.futex_back, i);
          if (i % per_batch == 0) {
            if (i > per_batch) {
              samples.push_back(ns_since(begin) / (2e3 * per_batch));
            }
            begin = clock_type::now();
          }
        }
      });
  report("futex-switch", "latency", "us", "kind=same-core", stats::median_of(samples));
}

// memcpy between two private buffers, both at the beginning of a page. Both fit the caches where
// the size does: that is what a message that is sent again and again from one buffer meets. Where
// one begins 16 bytes behind the other, modulo a page, some processors copy 20 times as slowly.
void copy_rate(std::size_t bytes, std::size_t offset) {
  constexpr std::size_t page = 4096;
  std::vector<char> from(bytes + 2 * page, 1), to(bytes + 2 * page, 2);
  const auto at_page = [](std::vector<char>& v) {
    const auto address = reinterpret_cast<std::uintptr_t>(v.data());
    return v.data() + (page - address % page) % page;
  };
  const char* const source = at_page(from) + offset;
  char* const target = at_page(to);
  const std::size_t repeat = std::max<std::size_t>(1, (std::size_t{4} << 20) / bytes);
  std::vector<double> samples;
  for (int b = -2; b < 20; ++b) {
    const auto begin = clock_type::now();
    for (std::size_t i = 0; i < repeat; ++i) {
      std::memcpy(target, source, bytes);
      asm volatile("" : : "r"(target) : "memory");
    }
    if (b >= 0) {
      samples.push_back(double(bytes) * double(repeat) / ns_since(begin));
    }
  }
  report(
      "memcpy", "bandwidth", "GB/s",
      "bytes=" + std::to_string(bytes) + (offset == 0 ? "" : ",offset=" + std::to_string(offset)),
      stats::median_of(samples));
}

// fork, exec of the smallest program, wait: no launcher of processes is faster.
void fork_exec() {
  std::vector<double> samples;
  for (int i = 0; i < 21; ++i) {
    const auto begin = clock_type::now();
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/true", "true", static_cast<char*>(nullptr));
      _exit(127);
    }
    if (child < 0) {
      return;
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    if (status != 0) {
      return;
    }
    samples.push_back(ns_since(begin) / 1e6);
  }
  report("fork-exec", "time", "ms", "-", stats::median_of(samples));
}

// Of the word "sizes=8,64": those above 0.
std::vector<std::size_t> sizes_in(const std::vector<std::string>& words) {
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    if (word.rfind("sizes=", 0) != 0) {
      continue;
    }
    for (const std::string& size : stats::split(word.substr(6), ',')) {
      const long bytes = std::strtol(size.c_str(), nullptr, 10);
      if (bytes > 0) {
        sizes.push_back(static_cast<std::size_t>(bytes));
      }
    }
  }
  return sizes;
}

}  // namespace

int floor_probe(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  const auto wanted = [&words](const char* name) {
    return std::find(words.begin(), words.end(), name) != words.end();
  };
  const std::vector<int> cpus = allowed_cpus();
  if (wanted("fork-exec")) {
    fork_exec();
  }
  if (!cpus.empty()) {
    pin(cpus.front());
  }
  const std::vector<std::size_t> sizes = sizes_in(words);
  if (wanted("memcpy")) {
    for (const std::size_t bytes : sizes) {
      copy_rate(bytes, 0);
      copy_rate(bytes, 16);
    }
  }
  if (wanted("window")) {
    windows();
  }
  void* memory = shared_memory(sizeof(shared_area));
  if (memory == nullptr) {
    return 1;
  }
  auto* area = new (memory) shared_area;
  if (wanted("futex-switch") && !cpus.empty()) {
    futex_switch(*area, cpus.front());
  }
  const bool two = std::any_of(words.begin(), words.end(), [](const std::string& w) {
    return w == "line" || w == "line-stream" || w == "transfer" || w == "stream";
  });
  if (!two) {
    return 0;
  }
  if (cpus.size() < 2) {
    std::fprintf(stderr, "one core only: no trip of a cache line to measure.\n");
    return 1;
  }
  if (wanted("line")) {
    line_trip("kind=pair", &area->pair.there, &area->pair.back, 0, cpus[0], cpus[1]);
    line_trip("kind=ring", area->ring_there, area->ring_back, ring_slots - 1, cpus[0], cpus[1]);
  }
  if (wanted("line-stream")) {
    line_stream(*area, cpus[0], cpus[1]);
  }
  if (wanted("transfer")) {
    transfers(sizes, cpus[0], cpus[1]);
  }
  if (wanted("stream")) {
    streams(sizes, cpus[0], cpus[1]);
  }
  return 0;
}

}  // namespace sinew::tool
