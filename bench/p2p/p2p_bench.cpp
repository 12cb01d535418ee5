// SPDX-License-Identifier: BSD-3-Clause
// How fast the p2p module is by itself: two pinned processes over shared memory, no MPI binding.
// For work on the hot path; `sinew bench` is what compares with the peers.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sinew/base/clock.hpp"
#include "support/job.hpp"

namespace {

using sinew::p2p::buffer;

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

struct rank_of_two {
  sinew::core::runtime& runtime;
  sinew::p2p::engine& engine;
  sinew::core::communicator& comm;
  int me;

  [[nodiscard]] sinew::comm_rank other() const { return sinew::comm_rank{1 - me}; }
  void send(void* data, std::size_t n) {
    engine.send(comm, sinew::p2p::messages_of(comm), buffer::of_bytes(data, n), other(), 1);
  }
  void recv(void* data, std::size_t n) {
    engine.recv(comm, sinew::p2p::messages_of(comm), buffer::of_bytes(data, n), other(), 1);
  }
};

void latency(rank_of_two& r, std::size_t n, std::byte* data) {
  const int rounds = n <= 64 ? 100000 : static_cast<int>(20'000'000 / (n + 2000)) + 20;
  std::vector<double> ns;
  for (int repeat = 0; repeat < 9; ++repeat) {
    const std::uint64_t from = sinew::now_ns();
    for (int i = 0; i < rounds; ++i) {
      if (r.me == 0) {
        r.send(data, n);
        r.recv(data + n, n);
      } else {
        r.recv(data + n, n);
        r.send(data, n);
      }
    }
    ns.push_back(static_cast<double>(sinew::now_ns() - from) / rounds / 2);
  }
  std::sort(ns.begin(), ns.end());
  if (r.me == 0) {
    std::printf("latency %8zu B: median %9.1f ns, best %9.1f ns\n", n, ns[ns.size() / 2], ns[0]);
  }
}

void rate(rank_of_two& r, std::byte* data) {
  constexpr int window = 64;
  constexpr int rounds = 5000;
  std::vector<double> ns;
  for (int repeat = 0; repeat < 9; ++repeat) {
    const std::uint64_t from = sinew::now_ns();
    for (int i = 0; i < rounds; ++i) {
      std::vector<sinew::p2p::request*> open(window);
      for (int w = 0; w < window; ++w) {
        const auto b = buffer::of_bytes(data + 8 * w, 8);
        open[static_cast<std::size_t>(w)] =
            r.me == 0 ? r.engine.isend(r.comm, sinew::p2p::messages_of(r.comm), b, 1, 1)
                      : r.engine.irecv(r.comm, sinew::p2p::messages_of(r.comm), b, 0, 1);
      }
      for (auto* o : open) {
        if (o != nullptr) {
          r.engine.wait(*o);
          r.engine.release(o);
        }
      }
      if (r.me == 0) {
        r.recv(data, 0);
      } else {
        r.send(data, 0);
      }
    }
    ns.push_back(static_cast<double>(sinew::now_ns() - from) / rounds / window);
  }
  std::sort(ns.begin(), ns.end());
  if (r.me == 0) {
    std::printf("rate, window %d: %.1f M/s (%.1f ns per message)\n", window,
                1000 / ns[ns.size() / 2], ns[ns.size() / 2]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool threads = argc > 1 && std::atoi(argv[1]) != 0;
  sinew::fabric::node_memory where{};
  where.bytes_per_rank = sinew::fabric::shm_bytes_per_rank(2);
  where.base =
      static_cast<std::byte*>(::mmap(nullptr, 2 * where.bytes_per_rank, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  where.local_ranks = {0, 1};
  const pid_t child = fork();
  const int me = child == 0 ? 1 : 0;
  pin(me);
  where.rank = sinew::job_rank{me};
  where.local_rank = sinew::local_rank{me};
  const auto threading = threads ? sinew::core::threading::many : sinew::core::threading::one;
  const auto own = sinew::core::runtime::over(std::make_unique<sinew::test::fake_session>(me, 2),
                                              sinew::fabric::open_shm(where, threads), threading);
  sinew::core::runtime& runtime = *own;
  sinew::p2p::engine engine(runtime);
  sinew::core::communicator world(0, sinew::core::group::range(2), sinew::comm_rank{me});
  engine.attach(world);
  rank_of_two r{runtime, engine, world, me};
  std::vector<std::byte> data(16 << 20, std::byte{1});
  for (const std::size_t n :
       {0U, 8U, 32U, 64U, 512U, 1024U, 4096U, 8192U, 16384U, 65536U, 262144U, 1048576U, 4194304U}) {
    latency(r, n, data.data());
  }
  rate(r, data.data());
  std::fflush(stdout);
  if (me == 0) {
    int ended = 0;
    waitpid(child, &ended, 0);
  } else {
    _exit(0);
  }
  return 0;
}
