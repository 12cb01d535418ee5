// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/floor_parts.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "sinew/base/check.hpp"
#include "sinew/bench/stats.hpp"

namespace sinew::tool::floors {
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

double ns_since(clock_type::time_point begin) {
  return std::chrono::duration<double, std::nano>(clock_type::now() - begin).count();
}

void report(const char* name, const char* metric, const char* unit, const std::string& params,
            double value, double line_ns) {
  std::printf("@ %s %s %s %s %.9g", name, metric, unit, params.c_str(), value);
  if (line_ns > 0) {
    std::printf(" line=%.4g", line_ns);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

void await(const line& l, std::uint64_t value) {
  constexpr int patience = 20000;  // polls, then somebody else may need the processor
  for (int polls = 1; l.word.load(std::memory_order_acquire) < value; ++polls) {
    if (polls % patience == 0) {
      sched_yield();
    }
    relax();
  }
}

void beside(int our_cpu, int their_cpu, const std::function<void()>& theirs,
            const std::function<void()>& ours) {
  std::fflush(stdout);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    std::perror("fork");
    return;
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
      _exit(1);
    }
    pin(their_cpu);
    theirs();
    _exit(0);
  }
  pin(our_cpu);
  ours();
  int status = 0;
  (void)waitpid(child, &status, 0);
}

double quick_trip(line_pair& pair, bool first, std::uint64_t& number) {
  constexpr int each = 200;
  std::vector<double> samples;
  for (int b = -1; b < 5; ++b) {  // the first one warms up
    const auto begin = clock_type::now();
    for (int i = 0; i < each; ++i) {
      ++number;
      if (first) {
        pair.there.word.store(number, std::memory_order_release);
        await(pair.back, number);
      } else {
        await(pair.there, number);
        pair.back.word.store(number, std::memory_order_release);
      }
    }
    if (b >= 0) {
      samples.push_back(ns_since(begin) / (2.0 * each));
    }
  }
  SINEW_ENSURE(samples.size() == 5);
  return stats::median_of(samples);
}

void* shared_memory(std::size_t bytes) {
  SINEW_EXPECT(bytes > 0);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    return nullptr;
  }
  return memory;
}

}  // namespace sinew::tool::floors
