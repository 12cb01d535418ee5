// SPDX-License-Identifier: BSD-3-Clause
// Shared by the measuring programs that need no MPI: one process, some threads. A program takes
// words "key=value" and prints lines
//   @ <case> <metric> <unit> <name=value,...|-> <value>
// which `sinew bench` reads. Only the standard library and POSIX, since peers compile it too.
#ifndef SINEW_BENCH_MICRO_HPP
#define SINEW_BENCH_MICRO_HPP

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace micro {

struct options {
  std::vector<int> threads = {1};
  double budget_ms = 50;  ///< measuring time for each row
  bool floor = false;     ///< the driver alone, without what it measures
};

/// Whole numbers from 1 on with commas between, up to what is none.
inline std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> all;
  for (const char* at = text.c_str(); *at != 0; at += *at == ',') {
    char* end = nullptr;
    const long n = std::strtol(at, &end, 10);
    if (end == at || n < 1) {
      break;
    }
    all.push_back(static_cast<int>(n));
    at = end;
  }
  return all;
}

inline options read_options(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const char* word = argv[i];
    if (std::strncmp(word, "threads=", 8) == 0) {
      o.threads = numbers_of(word + 8);
    } else if (std::strncmp(word, "budget_ms=", 10) == 0) {
      o.budget_ms = std::atof(word + 10);
    } else if (std::strcmp(word, "floor") == 0) {
      o.floor = true;
    }
  }
  return o;
}

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline void report(const char* name, const std::string& params, double ns) {
  std::printf("@ %s latency ns %s %.9g\n", name, params.c_str(), ns);
  std::fflush(stdout);
}

inline double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

[[noreturn]] inline void wrong(const char* what) {
  std::fprintf(stderr, "wrong answer: %s\n", what);
  std::exit(3);
}

/// Keeps the compiler from computing less than it says.
template <class T>
inline void use(const T& value) {
  asm volatile("" : : "g"(value) : "memory");
}

/// Binds the calling thread to the n-th processor that this process may use, round robin.
inline void pin(int n) {
  static const cpu_set_t allowed = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  const int count = CPU_COUNT(&allowed);
  if (count == 0) {
    return;
  }
  n %= count;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || n-- > 0) {
      continue;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
}

/// Rounds for a crew of threads: all begin a round together, until the budget is spent.
class rounds {
 public:
  rounds(int threads, double budget_ms)
      : barrier_(threads), end_(now_ns() + budget_ms * 1e6), least_(5) {}

  /// All meet; thread 0 decides. The same answer for all.
  bool another(int me) {
    if (me == 0) {
      go_on_.store(done_++ < least_ || now_ns() < end_, std::memory_order_relaxed);
    }
    meet();
    const bool answer = go_on_.load(std::memory_order_relaxed);
    meet();
    return answer;
  }
  void meet() { barrier_.arrive_and_wait(); }

 private:
  std::barrier<> barrier_;
  double end_;
  int least_;
  int done_ = 0;
  std::atomic<bool> go_on_{true};
};

/// Runs body(me) on `threads` pinned threads and waits for their end.
template <class Body>
void crew(int threads, Body&& body) {
  std::vector<std::thread> all;
  for (int me = 0; me < threads; ++me) {
    all.emplace_back([me, &body] {
      pin(me);
      body(me);
    });
  }
  for (std::thread& one : all) {
    one.join();
  }
}

/// Writes a megabyte count of memory, so that what was cached is not any more.
class sweeper {
 public:
  explicit sweeper(std::size_t bytes) : memory_(bytes) {}
  void sweep() {
    for (std::size_t i = 0; i < memory_.size(); i += 64) {
      memory_[i] = static_cast<char>(i);
    }
    use(memory_.data());
  }

 private:
  std::vector<char> memory_;
};

/// The numbers of a word "key=1,2,4", or what is given.
inline std::vector<int> numbers(int argc, char** argv, std::string_view key,
                                std::vector<int> or_else) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.size() <= key.size() || word.substr(0, key.size()) != key || word[key.size()] != '=') {
      continue;
    }
    or_else = numbers_of(argv[i] + key.size() + 1);
  }
  return or_else;
}

/// `line_ns`: a cache line's trip between the two ranks, measured just before (line.h); 0: none.
inline void report_row(const char* name, const char* metric, const char* unit,
                       const std::string& params, double value, double line_ns = 0) {
  std::printf("@ %s %s %s %s %.9g", name, metric, unit, params.c_str(), value);
  std::printf(line_ns > 0 ? " line=%.4g\n" : "\n", line_ns);
  std::fflush(stdout);
}

}  // namespace micro

#endif
