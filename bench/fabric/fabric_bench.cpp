// SPDX-License-Identifier: BSD-3-Clause
// What the shm fabric costs by itself: two forked processes on two cores, no runtime above.
// Usage: fabric_bench [filter]; prints "name bytes median min unit" per line.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "sinew/base/settings.hpp"
#include "sinew/fabric/fabric.hpp"

namespace {

using namespace sinew::fabric;

constexpr int rounds = 61;  // short ones, so that on a busy machine some are undisturbed

double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

struct alignas(64) flag {
  std::atomic<std::uint64_t> value;
};
struct scratch {
  flag ping, pong, gate[2];
  remote_address exposed[2];
};

struct rank_state {
  int me;
  std::unique_ptr<endpoint> fabric;
  scratch* shared;
  std::uint64_t arrived = 0;
  std::uint64_t awaited = 0;
  std::uint64_t bytes_seen = 0;
  bool transfer_done = false;
  std::vector<std::byte> sink = std::vector<std::byte>(1 << 16);
  std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::uint64_t gates = 0;
};

sinew::status count(void* context, const arrival& m) noexcept {
  auto& s = *static_cast<rank_state*>(context);
  ++s.arrived;
  if (m.size > 8) {
    std::memcpy(s.sink.data(), m.data, m.size);
  }
  s.bytes_seen += m.size;
  return sinew::status::ok();
}

void gate(rank_state& s) {
  ++s.gates;
  s.shared->gate[s.me].value.store(s.gates);
  while (s.shared->gate[1 - s.me].value.load() < s.gates) {
    s.fabric->progress(64);
  }
}

/// For `n` messages more than were awaited before.
void await(rank_state& s, std::uint64_t n) {
  s.awaited += n;
  while (s.arrived < s.awaited) {
    s.fabric->progress(64);
  }
}

void send(rank_state& s, std::size_t n) {
  const header head{{1, 2}};
  while (s.fabric->send_medium(sinew::job_rank{1 - s.me}, 1, head, s.source, n).retry()) {
    s.fabric->progress(64);
  }
}

template <class Body>
void report(rank_state& s, const char* name, std::size_t bytes, const char* unit, double scale,
            int operations, Body body) {
  std::vector<double> values;
  for (int r = 0; r < rounds; ++r) {
    gate(s);
    const double start = now_us();
    body(operations);
    const double each = (now_us() - start) / operations;
    values.push_back(scale > 0 ? each * scale : 1 / each);
    gate(s);
  }
  std::sort(values.begin(), values.end());
  if (s.me == 0) {
    const double best = scale > 0 ? values.front() : values.back();
    std::printf("%-10s %9zu  median %8.2f  best %8.2f %s\n", name, bytes, values[rounds / 2], best,
                unit);
    std::fflush(stdout);
  }
}

void bare_line(rank_state& s) {
  std::uint64_t k = 0;
  report(s, "floor", 8, "ns", 500, 5000, [&](int n) {
    for (int i = 0; i < n; ++i) {
      ++k;
      if (s.me == 0) {
        s.shared->ping.value.store(k, std::memory_order_release);
        while (s.shared->pong.value.load(std::memory_order_acquire) != k) {
        }
      } else {
        while (s.shared->ping.value.load(std::memory_order_acquire) != k) {
        }
        s.shared->pong.value.store(k, std::memory_order_release);
      }
    }
  });
}

void one_way(rank_state& s, std::size_t bytes) {
  report(s, "one-way", bytes, "ns", 500, bytes > 1000 ? 1000 : 5000, [&](int n) {
    for (int i = 1; i <= n; ++i) {
      if (s.me == 0) {
        send(s, bytes);
        await(s, 1);
      } else {
        await(s, 1);
        send(s, bytes);
      }
    }
  });
}

void rate(rank_state& s, std::size_t bytes) {
  const int window = 64;
  report(s, "rate", bytes, "M/s", 0, bytes > 1000 ? 64 * 20 : 64 * 500, [&](int n) {
    for (int i = 0; i < n; i += window) {
      if (s.me == 0) {
        for (int k = 0; k < window; ++k) {
          send(s, bytes);
        }
        await(s, 1);
      } else {
        await(s, window);
        send(s, 8);
      }
    }
  });
  report(s, "stream", bytes, "M/s", 0, bytes > 1000 ? 64 * 20 : 64 * 500, [&](int n) {
    if (s.me == 0) {
      for (int k = 0; k < n; ++k) {
        send(s, bytes);
      }
      await(s, 1);
    } else {
      await(s, static_cast<std::uint64_t>(n));
      send(s, 8);
    }
  });
}

/// A ping-pong of gets: each side in turn is told that data is ready, and fetches it.
void get_one_way(rank_state& s, std::size_t bytes) {
  const int operations = static_cast<int>(std::max<std::size_t>(4, 10'000'000 / (bytes + 4000)));
  const auto fetch = [&] {
    s.transfer_done = false;
    const callback done{[](void* a) noexcept { *static_cast<bool*>(a) = true; }, &s.transfer_done};
    const auto how = s.fabric->get(sinew::job_rank{1 - s.me}, s.target, s.shared->exposed[1 - s.me],
                                   bytes, done);
    while (!how.done() && !s.transfer_done) {
      s.fabric->progress(64);
    }
  };
  report(s, "get", bytes, "us", 0.5, operations, [&](int n) {
    for (int i = 1; i <= n; ++i) {
      if (s.me == 0) {
        send(s, 8);
        await(s, 1);
        fetch();
      } else {
        await(s, 1);
        fetch();
        send(s, 8);
      }
    }
  });
}

void run(int me, scratch* shared, std::byte* memory, std::size_t per_rank, const char* filter) {
  pin(me);
  rank_state s;
  s.me = me;
  s.shared = shared;
  const std::size_t room = 16 << 20;
  s.source = static_cast<std::byte*>(std::aligned_alloc(4096, room));
  s.target = static_cast<std::byte*>(std::aligned_alloc(4096, room));
  std::memset(s.source, me + 1, room);
  std::memset(s.target, 0, room);
  s.fabric = open_shm({memory, per_rank, sinew::job_rank{me}, sinew::local_rank{me}, {0, 1}},
                      std::getenv("BENCH_THREADS") != nullptr);
  s.fabric->set_handler(1, count, &s);
  shared->exposed[me] = {reinterpret_cast<std::uintptr_t>(s.source),
                         s.fabric->expose(s.source, room)};
  const auto wanted = [&](const char* name) {
    return filter == nullptr || std::strstr(filter, name) != nullptr;
  };
  gate(s);
  bare_line(s);
  if (wanted("short")) {
    for (const std::size_t n : {0u, 8u, 0u, 8u, 1u, 4u, 16u, 24u, 40u, 0u}) {
      one_way(s, n);
    }
    bare_line(s);
  }
  if (wanted("rate")) {
    for (const std::size_t n : {8u, 40u, 64u, 1024u, 4096u, 8192u}) {
      rate(s, n);
    }
  }
  if (wanted("medium")) {
    for (const std::size_t n : {64u, 128u, 256u, 512u, 1024u, 2048u, 4096u, 8192u}) {
      one_way(s, n);
    }
  }
  if (wanted("get")) {
    for (std::size_t n = 8192; n <= std::size_t{4} << 20; n *= 2) {
      get_one_way(s, n);
    }
  }
  bare_line(s);
  std::free(s.source);
  std::free(s.target);
}

}  // namespace

int main(int argc, char** argv) {
  sinew::settings::load_environment();
  const std::size_t per_rank = shm_bytes_per_rank(2);
  void* at =
      mmap(nullptr, 4096 + 2 * per_rank, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    std::perror("mmap");
    return 1;
  }
  auto* memory = static_cast<std::byte*>(at);
  // The two spin on each other: neither may outlive the other, nor a run that takes too long.
  alarm(120);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
      return 1;
    }
  }
  run(child == 0 ? 1 : 0, new (at) scratch, memory + 4096, per_rank, argc > 1 ? argv[1] : nullptr);
  if (child != 0) {
    int code = 0;
    waitpid(child, &code, 0);
    return code == 0 ? 0 : 1;
  }
  return 0;
}
