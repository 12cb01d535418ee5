// SPDX-License-Identifier: BSD-3-Clause
// A job of the rma module without a launcher: ranks as threads or as forked processes, over a
// back-end of choice, with heaps in memory that all share.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/fabric/disturbed.hpp"
#include "sinew/rma/engine.hpp"
#include "support/job.hpp"
#include "support/shared_memory.hpp"

namespace sinew::test {

/// Where a test's ranks meet without the module's help.
struct meeting {
  std::atomic<int> arrived;
  std::atomic<int> round;
  std::atomic<int> failed;
  std::atomic<std::uint64_t> word[64];
};

struct rma_member {
  rma::engine& rma;
  meeting& all;
  int rank;
  int size;

  [[nodiscard]] job_rank next() const { return job_rank{(rank + 1) % size}; }
  [[nodiscard]] job_rank previous() const { return job_rank{(rank + size - 1) % size}; }

  template <class Ready>
  void until(Ready ready) {
    poll_until(rma.runtime(), [&] {
      if (ready()) {
        return true;
      }
      if (all.failed.load() != 0) {
        throw std::runtime_error("another rank failed");
      }
      return false;
    });
  }
  void meet() {
    const int mine = all.round.load();
    if (all.arrived.fetch_add(1) + 1 == size) {
      all.arrived.store(0);
      all.round.fetch_add(1);
    }
    until([&] { return all.round.load() != mine; });
  }
  /// What is under way has arrived everywhere, and what that causes.
  void settle() {
    for (int i = 0; i < 4; ++i) {
      meet();
      drain(rma.runtime());
    }
    meet();
  }
};

inline void require(bool condition, const std::string& otherwise) {
  if (!condition) {
    throw std::runtime_error(otherwise);
  }
}

enum class ranks_as { threads, processes };

struct rma_setup {
  backend over = backend::shm;
  core::threading threads = core::threading::one;
  ranks_as kind = ranks_as::threads;
  rma::heap_sizes sizes{std::size_t{8} << 20, std::size_t{8} << 20};
  /// Ranks in as many blocks of consecutive ones as if each were a node: heaps of other blocks are
  /// not mapped, and reached over the same fabric.
  int nodes = 1;
  std::uint64_t disturbed = 0;  ///< the seed, if it is
};

using rma_body = std::function<void(rma_member&)>;

class rma_job {
 public:
  rma_job(int ranks, const rma_setup& how)
      : ranks_(ranks),
        how_(how),
        shape_(ranks, how.sizes),
        fabric_bytes_(fabric::shm_bytes_per_rank(ranks)),
        board_(sizeof(meeting)),
        fabric_(launched() ? 1 : fabric_bytes_ * static_cast<std::size_t>(ranks)),
        heaps_(launched() ? 1 : shape_.bytes * static_cast<std::size_t>(ranks)),
        all_(board_.as<meeting>()) {
    if (how.over == backend::inproc && !launched()) {
      inproc_ = fabric::open_inproc(ranks, how.threads == core::threading::many);
    }
  }

  /// What went wrong, or nothing.
  [[nodiscard]] std::string run(const rma_body& body) {
    if (launched()) {
      return is_launched_job(ranks_) ? run_launched(body) : "";
    }
    return how_.kind == ranks_as::threads ? run_threads(body) : run_processes(body);
  }

 private:
  std::unique_ptr<core::runtime> open(int rank) {
    auto net = endpoint(rank);
    if (how_.disturbed != 0) {
      net = fabric::disturb(std::move(net), {.seed = how_.disturbed});
    }
    return core::runtime::over(std::make_unique<fake_session>(rank, ranks_), std::move(net),
                               how_.threads);
  }

  std::string run_rank(int rank, core::runtime& runtime, const rma_body& body) {
    try {
      rma::heap_memory where;
      where.sizes = how_.sizes;
      const int each = (ranks_ + how_.nodes - 1) / how_.nodes;
      for (int r = 0; r < ranks_; ++r) {
        std::byte* const part = heaps_.base() + static_cast<std::size_t>(r) * shape_.bytes;
        where.parts.push_back(r / each == rank / each ? part : nullptr);
        where.node_of.push_back(r / each);
      }
      rma::engine engine(runtime, where);
      return run_rank(rank, engine, body);
    } catch (const std::exception& e) {
      return "rank " + std::to_string(rank) + ": " + e.what();
    }
  }

  std::string run_rank(int rank, rma::engine& engine, const rma_body& body) {
    try {
      rma_member m{engine, all_, rank, ranks_};
      m.meet();
      try {
        body(m);
      } catch (...) {
        all_.failed.store(1);
        throw;
      }
      m.meet();
      return {};
    } catch (const std::exception& e) {
      return "rank " + std::to_string(rank) + ": " + e.what();
    }
  }

  /// With heaps of the sizes that the settings say.
  std::string run_launched(const rma_body& body) {
    core::runtime& runtime = launched_runtime();
    return run_rank(runtime.rank().value(), rma::engine::of_process(runtime), body);
  }

  std::unique_ptr<fabric::endpoint> endpoint(int rank) {
    if (how_.over == backend::inproc) {
      return std::move(inproc_[static_cast<std::size_t>(rank)]);
    }
    std::vector<job_rank> locals(static_cast<std::size_t>(ranks_));
    std::iota(locals.begin(), locals.end(), job_rank(0));
    return fabric::open_shm(
        {fabric_.base(), fabric_bytes_, job_rank{rank}, local_rank{rank}, locals},
        how_.threads == core::threading::many);
  }

  std::string run_threads(const rma_body& body) {
    std::vector<std::string> problems(static_cast<std::size_t>(ranks_));
    // Not by the threads themselves: a process has few runtimes and opens them one by one.
    std::vector<std::unique_ptr<core::runtime>> runtimes;
    for (int r = 0; r < ranks_; ++r) {
      runtimes.push_back(open(r));
    }
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks_; ++r) {
      const auto index = static_cast<std::size_t>(r);
      threads.emplace_back(
          [&, r, index] { problems[index] = run_rank(r, *runtimes[index], body); });
    }
    for (auto& t : threads) {
      t.join();
    }
    std::string first;
    for (const std::string& p : problems) {
      if (!p.empty() && (first.empty() || first.find("another rank") != std::string::npos)) {
        first = p;
      }
    }
    return first;
  }

  std::string run_processes(const rma_body& body) {
    std::vector<pid_t> children;
    std::fflush(nullptr);
    for (int r = 0; r < ranks_; ++r) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that hangs leaves nobody behind
        const std::string problem = run_rank(r, *open(r), body);
        if (!problem.empty()) {
          std::fprintf(stderr, "%s\n", problem.c_str());
        }
        std::fflush(nullptr);
        ::_exit(problem.empty() ? 0 : 1);
      }
      children.push_back(child);
    }
    std::string problem;
    for (const pid_t child : children) {
      int code = 0;
      ::waitpid(child, &code, 0);
      if (code != 0) {
        all_.failed.store(1);
        problem = "a rank failed (wait status " + std::to_string(code) + ", see above)";
      }
    }
    return problem;
  }

  int ranks_;
  rma_setup how_;
  rma::heap_shape shape_;
  std::size_t fabric_bytes_;
  shared_memory board_;
  shared_memory fabric_;
  shared_memory heaps_;
  meeting& all_;
  std::vector<std::unique_ptr<fabric::endpoint>> inproc_;
};

}  // namespace sinew::test
