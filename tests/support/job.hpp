// SPDX-License-Identifier: BSD-3-Clause
// A whole job inside one process: one thread per rank, over a back-end of choice.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/base/ids.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/p2p/engine.hpp"
#include "support/shared_memory.hpp"

namespace sinew::test {

/// Knows its place; never aborts quietly.
class fake_session final : public boot::session {
 public:
  /// `node_of`: by rank, as if the ranks lay on several nodes; empty: all lie on one.
  fake_session(int rank, int size, const std::vector<int>& node_of = {}) {
    place_.rank = job_rank{rank};
    place_.job = "test-" + std::to_string(::getpid());
    place_.size = size;
    place_.node_of = node_of;
    place_.local_ranks.clear();
    const auto node = [&](int r) {
      return node_of.empty() ? 0 : node_of[static_cast<std::size_t>(r)];
    };
    place_.node = node(rank);
    for (int r = 0; r < size; ++r) {
      place_.nodes = std::max(place_.nodes, node(r) + 1);
      if (node(r) == place_.node) {
        if (r == rank) {
          place_.local_rank = local_rank{static_cast<int>(place_.local_ranks.size())};
        }
        place_.local_ranks.push_back(job_rank{r});
      }
    }
    place_.local_size = static_cast<int>(place_.local_ranks.size());
    if (!node_of.empty()) {
      place_.local_cpus = size;  // no node is crowded: ranks have to agree on that
    }
  }
  [[nodiscard]] const boot::place& where() const override { return place_; }
  void put(const std::string&, const std::string&) override {}
  [[nodiscard]] std::optional<std::string> get(const std::string&) override { return {}; }
  void fence() override {}
  [[nodiscard]] std::byte* map_node_memory(std::size_t) override { return nullptr; }
  [[nodiscard]] std::byte* map_node_heap(std::size_t) override { return nullptr; }
  [[noreturn]] void abort(int, std::string_view why) override {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(why.size()), why.data());
    std::abort();
  }
  void finalize() override {}
  [[nodiscard]] boot::survival* survivors() noexcept override { return deaths; }

  boot::survival* deaths = nullptr;  ///< of a job that goes on when ranks die

 private:
  boot::place place_;
};

#if defined(SINEW_TSAN) || defined(SINEW_ASAN) || defined(SINEW_EMULATED)
inline constexpr bool slow_build = true;
#else
inline constexpr bool slow_build = false;
#endif

/// Makes progress meanwhile.
template <class Ready>
void poll_until(core::runtime& runtime, Ready ready) {
  while (!ready()) {
    if (runtime.poll() == 0) {
      sched_yield();
    }
  }
}

enum class backend { inproc, shm };

inline std::string name_of(backend b) { return b == backend::inproc ? "inproc" : "shm"; }

/// The endpoints of a job in this process, and the memory under them.
class endpoints {
 public:
  endpoints(int ranks, backend over, bool threads) {
    if (over == backend::inproc) {
      all_ = fabric::open_inproc(ranks, threads);
      return;
    }
    fabric::node_memory where{};
    where.bytes_per_rank = fabric::shm_bytes_per_rank(ranks);
    memory_ =
        std::make_unique<shared_memory>(where.bytes_per_rank * static_cast<std::size_t>(ranks));
    where.base = memory_->base();
    for (int r = 0; r < ranks; ++r) {
      where.local_ranks.push_back(job_rank{r});
    }
    for (int r = 0; r < ranks; ++r) {
      where.rank = job_rank{r};
      where.local_rank = local_rank{r};
      all_.push_back(fabric::open_shm(where, threads));
    }
  }
  std::unique_ptr<fabric::endpoint> take(int rank) {
    return std::move(all_[static_cast<std::size_t>(rank)]);
  }

 private:
  std::unique_ptr<shared_memory> memory_;  // outlives those over it
  std::vector<std::unique_ptr<fabric::endpoint>> all_;
};

/// One rank's view, handed to the body of a test. `comm` is the world.
struct member {
  core::runtime& runtime;
  p2p::engine& engine;
  core::communicator& comm;
  int rank;
  int size;

  [[nodiscard]] p2p::channel& messages() const { return p2p::messages_of(comm); }
};

/// Runs `body` as every rank of a job of `ranks`, each on its own thread; returns when all have.
/// At the end every rank makes progress until all are done, as MPI_Finalize would.
/// `deaths`: of a job whose ranks go on when others die.
inline void run_job(int ranks, backend over, core::threading threads,
                    const std::function<void(member&)>& body, const std::vector<int>& node_of = {},
                    boot::survival* deaths = nullptr) {
  endpoints made(ranks, over, threads == core::threading::many);
  std::atomic<int> finished{0};
  std::vector<std::thread> all;
  std::vector<std::unique_ptr<core::runtime>> runtimes;
  for (int r = 0; r < ranks; ++r) {
    auto session = std::make_unique<fake_session>(r, ranks, node_of);
    session->deaths = deaths;
    runtimes.push_back(core::runtime::over(std::move(session), made.take(r), threads));
  }
  for (int r = 0; r < ranks; ++r) {
    all.emplace_back([&, r] {
      core::runtime& runtime = *runtimes[static_cast<std::size_t>(r)];
      p2p::engine engine(runtime);
      core::communicator world(0, core::group::range(ranks), comm_rank{r});
      world.name = "world";
      engine.attach(world);
      member m{runtime, engine, world, r, ranks};
      body(m);
      finished.fetch_add(1);
      poll_until(runtime, [&] { return finished.load() >= ranks; });
      while (runtime.poll() != 0) {
      }
      finished.fetch_add(1);
      while (finished.load() < 2 * ranks) {
        std::this_thread::yield();
      }
    });
  }
  for (auto& t : all) {
    t.join();
  }
}

}  // namespace sinew::test
