// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a contract test meet: shared mappings, threads, forked processes.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>

#include "contract/fabric_ranks.hpp"
#include "sinew/fabric/back_ends.hpp"

namespace sinew::fabric::contract {

inline constexpr std::size_t heap_bytes = 64 << 10;

/// Zero-filled memory that forked children share.
class shared_mapping {
 public:
  explicit shared_mapping(std::size_t bytes) : bytes_(bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
      throw std::runtime_error("mmap failed");
    }
    at_ = static_cast<std::byte*>(at);
  }
  ~shared_mapping() { munmap(at_, bytes_); }
  shared_mapping(const shared_mapping&) = delete;
  shared_mapping& operator=(const shared_mapping&) = delete;
  [[nodiscard]] std::byte* at() const { return at_; }

 private:
  std::size_t bytes_;
  std::byte* at_;
};

struct node_world {
  explicit node_world(int n, open_on_node how = {shm_bytes_per_rank, open_shm})
      : ranks(n),
        by(how),
        per_rank(how.bytes_per_rank(n, 0) + heap_bytes),
        board(sizeof(common)),
        memory(per_rank * static_cast<std::size_t>(n)) {
    new (board.at()) common{};
  }
  [[nodiscard]] common& all() const { return *reinterpret_cast<common*>(board.at()); }
  [[nodiscard]] std::unique_ptr<endpoint> open(int rank, bool threads, bool crowded = false) const {
    std::vector<job_rank> locals(static_cast<std::size_t>(ranks));
    std::iota(locals.begin(), locals.end(), job_rank(0));
    return by.open({memory.at(), per_rank, job_rank{rank}, local_rank{rank}, locals, crowded},
                   threads);
  }
  [[nodiscard]] std::byte* heap(int rank) const {
    return memory.at() + per_rank * static_cast<std::size_t>(rank + 1) - heap_bytes;
  }

  int ranks;
  open_on_node by;
  std::size_t per_rank;
  shared_mapping board;
  shared_mapping memory;
};

inline std::string guarded(common& all, const body& work, member& m) {
  try {
    work(m);
    return "";
  } catch (const std::exception& e) {
    all.failed.store(1);
    return "rank " + std::to_string(m.rank()) + ": " + e.what();
  }
}

/// Runs one thread per rank over endpoints that already exist.
inline std::string run_threads(common& all, const std::vector<endpoint*>& endpoints,
                               const std::function<std::byte*(int)>& heap, const body& work) {
  std::mutex lock;
  std::string problem;
  std::vector<std::thread> threads;
  for (endpoint* e : endpoints) {
    threads.emplace_back([&, e] {
      member m{*e, all, heap(e->rank().value()), heap_bytes};
      const std::string mine = guarded(all, work, m);
      const std::lock_guard guard(lock);
      if (problem.empty() || problem.find("another rank failed") != std::string::npos) {
        problem = mine.empty() ? problem : mine;
      }
    });
  }
  for (std::thread& t : threads) {
    t.join();
  }
  return problem;
}

/// Runs one process per rank, which opens its endpoint by `open`. `once_forked`: in this process,
/// for what must not be forked.
template <class World, class Open>
std::string run_forked(
    const World& world, const Open& open, const body& work,
    const std::function<void()>& once_forked = [] {}) {
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (int r = 0; r < world.ranks; ++r) {
    const pid_t child = fork();
    if (child == 0) {
      std::string problem;
      try {
        const auto fabric = open(r);
        member m{*fabric, world.all(), world.heap(r), heap_bytes};
        problem = guarded(world.all(), work, m);
      } catch (const std::exception& e) {
        world.all().failed.store(1);
        problem = std::string("it was not opened: ") + e.what();
      }
      if (!problem.empty()) {
        std::fprintf(stderr, "%s\n", problem.c_str());
      }
      std::fflush(nullptr);
      _exit(problem.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  once_forked();
  std::string problem;
  for (const pid_t child : children) {
    int code = 0;
    waitpid(child, &code, 0);
    if (code != 0) {
      world.all().failed.store(1);
      problem = "a rank failed (wait status " + std::to_string(code) + ", see above)";
    }
  }
  return problem;
}

/// The network that jobs on several nodes go by.
inline open_network usual_network() {
  return std::get<open_network>(choose(back_ends(), reach::job).open);
}

/// Ranks that tell each other their addresses by a mapping.
struct network_world {
  explicit network_world(int n, open_network how = usual_network())
      : ranks(n), by(how), board(sizeof(common)), told(sizeof(note) * static_cast<std::size_t>(n)) {
    new (board.at()) common{};
  }
  [[nodiscard]] common& all() const { return *reinterpret_cast<common*>(board.at()); }
  [[nodiscard]] static std::byte* heap(int /*rank*/) { return nullptr; }

  [[nodiscard]] std::unique_ptr<network_endpoint> open(int rank, bool threads,
                                                       bool between_nodes_only = false,
                                                       pairing tags = pairing::none) const {
    const std::shared_ptr<network> net = by({ranks, threads, between_nodes_only, {}, false, tags});
    note& mine = note_of(rank);
    require(net->address().size() <= sizeof mine.address, "an address is very long");
    std::memcpy(mine.address, net->address().data(), net->address().size());
    mine.bytes.store(net->address().size() + 1);
    for (int r = 0; r < ranks; ++r) {
      while (note_of(r).bytes.load() == 0) {
        require(all().failed.load() == 0, "another rank failed");
        sched_yield();
      }
    }
    return net->connect(job_rank{rank},
                        [this](job_rank peer) {
                          const note& other = note_of(peer.value());
                          return std::string(other.address, other.bytes.load() - 1);
                        },
                        {});
  }

  int ranks;
  open_network by;
  shared_mapping board;
  shared_mapping told;

 private:
  struct note {
    std::atomic<std::size_t> bytes;  ///< and one more, once they are there
    char address[4000];
  };
  [[nodiscard]] note& note_of(int rank) const {
    return reinterpret_cast<note*>(told.at())[static_cast<std::size_t>(rank)];
  }
};

/// Ranks on two nodes, the odd ones and the even ones: shared memory within, the network between.
struct joint_world {
  explicit joint_world(int n, open_network how = usual_network())
      : ranks(n),
        per_rank(std::max(shm_bytes_per_rank((n + 1) / 2), shm_bytes_per_rank(std::max(1, n / 2)))),
        far(n, how),
        memory(2 * per_rank * static_cast<std::size_t>(n)) {}
  [[nodiscard]] common& all() const { return far.all(); }
  [[nodiscard]] static std::byte* heap(int /*rank*/) { return nullptr; }

  [[nodiscard]] std::unique_ptr<endpoint> open(int rank, bool threads) const {
    std::vector<job_rank> near;
    for (int r = rank % 2; r < ranks; r += 2) {
      near.push_back(job_rank{r});
    }
    std::byte* const node = memory.at() + static_cast<std::size_t>(rank % 2 * ranks) * per_rank;
    return join(
        open_shm({node, per_rank, job_rank{rank}, local_rank{rank / 2}, near, false}, threads),
        near, far.open(rank, threads, true));
  }

  int ranks;
  std::size_t per_rank;
  network_world far;
  shared_mapping memory;
};

}  // namespace sinew::fabric::contract
