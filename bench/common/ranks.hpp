// SPDX-License-Identifier: BSD-3-Clause
// Ranks for the experiments with events, locks and reductions: processes forked from the program,
// over shared memory, without a launcher; or, with the word over=hosts, those that `sinew run` has
// started.
#ifndef SINEW_BENCH_RANKS_HPP
#define SINEW_BENCH_RANKS_HPP

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meeting.hpp"
#include "micro.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/boot/session.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/event/system.hpp"
#include "sinew/fabric/fabric.hpp"

namespace micro {

/// Memory that all ranks share, for handles and results.
class shared_memory {
 public:
  explicit shared_memory(std::size_t bytes) : bytes_(bytes) {
    base_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base_ == MAP_FAILED) {
      wrong("no shared memory");
    }
  }
  ~shared_memory() { ::munmap(base_, bytes_); }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(base_);
  }

 private:
  std::size_t bytes_;
  void* base_;
};

/// The place of a rank that no launcher has started.
class own_session final : public sinew::boot::session {
 public:
  own_session(int rank, int size) {
    place_.rank = sinew::job_rank{rank};
    place_.local_rank = sinew::local_rank{rank};
    place_.size = place_.local_size = size;
    place_.local_ranks.clear();
    for (int r = 0; r < size; ++r) {
      place_.local_ranks.push_back(sinew::job_rank{r});
    }
  }
  [[nodiscard]] const sinew::boot::place& where() const override { return place_; }
  void put(const std::string&, const std::string&) override {}
  [[nodiscard]] std::optional<std::string> get(const std::string&) override { return {}; }
  void fence() override {}
  [[nodiscard]] std::byte* map_node_memory(std::size_t) override { return nullptr; }
  [[nodiscard]] std::byte* map_node_heap(std::size_t) override { return nullptr; }
  [[noreturn]] void abort(int code, std::string_view) override { std::exit(code); }
  void finalize() override {}

 private:
  sinew::boot::place place_;
};

/// The endpoint of one of `size` ranks over `memory`, which they share.
inline std::unique_ptr<sinew::fabric::endpoint> endpoint_of(int rank, int size, bool crowded,
                                                            std::byte* memory) {
  if (size == 1) {
    return std::move(sinew::fabric::open_inproc(1, false).front());
  }
  sinew::fabric::node_memory where{};
  where.base = memory;
  where.bytes_per_rank = sinew::fabric::shm_bytes_per_rank(size);
  where.rank = sinew::job_rank{rank};
  where.local_rank = sinew::local_rank{rank};
  for (int r = 0; r < size; ++r) {
    where.local_ranks.push_back(sinew::job_rank{r});
  }
  where.crowded = crowded;
  return sinew::fabric::open_shm(where, false);
}

/// What one rank has.
struct rank_place {
  sinew::core::runtime& runtime;
  sinew::event::system& events;
  meeting& meet;
  int rank;
  int size;
};

/// Binds the caller to a processor of its own, if there is one for each rank.
inline bool place_rank(int rank, int ranks) {
  cpu_set_t before;
  ::sched_getaffinity(0, sizeof before, &before);
  const bool enough = ranks <= CPU_COUNT(&before);
  if (ranks > 1 && enough) {
    pin(rank);
  }
  return enough;
}

/// One of `ranks` processes: calls the body and ends the process.
template <class Body>
[[noreturn]] void be_rank(int rank, int ranks, const sinew::event::options& how,
                          std::byte* fabric_memory, shared_board& board, Body& body) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool enough = place_rank(rank, ranks);
  {
    const auto own = sinew::core::runtime::over(std::make_unique<own_session>(rank, ranks),
                                                endpoint_of(rank, ranks, !enough, fabric_memory),
                                                sinew::core::threading::one);
    sinew::event::system events(*own, how);
    shared_meeting meet(board, rank, ranks, *own);
    meet();
    body(rank_place{*own, events, meet, rank, ranks});
    meet();
  }
  std::fflush(nullptr);
  ::_exit(0);
}

/// Runs body(rank_place) on `ranks` processes; false if one of them failed.
template <class Body>
bool fork_ranks(int ranks, const sinew::event::options& how, Body body) {
  const shared_memory fabric(sinew::fabric::shm_bytes_per_rank(ranks) *
                             static_cast<std::size_t>(ranks));
  const shared_memory board(sizeof(shared_board));
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = ::fork();
    if (child < 0) {
      wrong("no process for a rank");
    }
    if (child == 0) {
      be_rank(rank, ranks, how, fabric.as<std::byte>(), *board.as<shared_board>(), body);
    }
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int code = 0;
    ::waitpid(child, &code, 0);
    good = good && code == 0;
  }
  return good;
}

/// Where the ranks come from.
class rank_source {
 public:
  rank_source(int argc, char** argv) : words_(argv + 1, argv + argc) {
    if (std::find(words_.begin(), words_.end(), "over=hosts") != words_.end()) {
      (void)sinew::settings::load_environment();
      session_ = sinew::boot::connect();
      size_ = session_->where().size;
    }
  }
  ~rank_source() {
    if (started_ != nullptr) {
      started_->meet();
      started_.reset();
    }
    if (runtime_ != nullptr) {
      runtime_->leave();
    } else if (session_ != nullptr) {
      session_->finalize();
    }
  }
  rank_source(const rank_source&) = delete;
  rank_source& operator=(const rank_source&) = delete;

  /// A launcher has started them: this process is one, and there are as many as there are.
  [[nodiscard]] bool launched() const { return size_ != 0; }
  /// As many as the word ranks=... says, or the launcher.
  [[nodiscard]] std::vector<int> numbers(std::vector<int> or_else) const {
    for (const std::string& word : words_) {
      if (word.rfind("ranks=", 0) == 0) {
        or_else = numbers_of(word.substr(6));
      }
    }
    return launched() ? std::vector<int>{size_} : or_else;
  }
  /// What a row's parameters end with.
  [[nodiscard]] const char* tail() const { return launched() ? ",over=hosts" : ""; }

  /// Of ranks that a launcher has started: their runtime. Handlers of the fabric are set before
  /// run().
  sinew::core::runtime& runtime() {
    if (runtime_ == nullptr) {
      runtime_ = sinew::core::runtime::open(std::move(session_), sinew::core::threading::one);
    }
    return *runtime_;
  }

  /// Calls body(rank_place) on each rank; false if one of them failed. Ranks that a launcher has
  /// started keep their events from one call to the next, with the options of the first.
  template <class Body>
  bool run(int ranks, const sinew::event::options& how, Body body) {
    if (!launched()) {
      return fork_ranks(ranks, how, body);
    }
    if (ranks != size_) {
      wrong("the launcher has started another number of ranks");
    }
    if (started_ == nullptr) {
      started_ = std::make_unique<system_of_rank>(runtime(), how);
      runtime().session().fence();  // all have their handlers
    }
    body(rank_place{runtime(), started_->events, started_->meet, runtime().rank().value(), ranks});
    started_->meet();
    std::fflush(nullptr);
    return true;
  }

 private:
  struct system_of_rank {
    system_of_rank(sinew::core::runtime& runtime, const sinew::event::options& how)
        : events(runtime, how), meet(events) {}
    sinew::event::system events;
    far_meeting meet;
  };

  std::vector<std::string> words_;
  std::unique_ptr<sinew::boot::session> session_;  // of a launcher, until the runtime has it
  int size_ = 0;
  std::unique_ptr<sinew::core::runtime> runtime_;
  std::unique_ptr<system_of_rank> started_;
};

}  // namespace micro

#endif
