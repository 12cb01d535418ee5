// Runs a measuring function as the ranks of a job, each a process of its own on this node, without
// a launcher: for the experiments with events, locks and reductions.
#ifndef SINEW_BENCH_RANKS_HPP
#define SINEW_BENCH_RANKS_HPP

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "micro.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/core/runtime.hpp"
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

/// Where ranks meet without the runtime's help, but making progress.
class meeting {
 public:
  meeting(std::atomic<int>& count, int size) : count_(count), size_(size) {}
  void operator()(sinew::core::runtime& runtime) {
    const int all = (count_.fetch_add(1) / size_ + 1) * size_;
    for (int quiet = 0; count_.load(std::memory_order_acquire) < all; ++quiet) {
      if (runtime.poll() == 0 && (runtime.crowded() || quiet % 64 == 63)) {
        sched_yield();
      }
    }
  }

 private:
  std::atomic<int>& count_;
  int size_;
};

/// Calls body(runtime, meet) as each of `size` ranks; rank 0 is this process, alone if size is 1.
/// A rank on each core, if there are enough.
template <class Body>
void run_ranks(int size, Body&& body) {
  shared_memory fabric_memory(sinew::fabric::shm_bytes_per_rank(size) *
                              static_cast<std::size_t>(size));
  shared_memory count_memory(4096);
  auto* const count = new (count_memory.as<void>()) std::atomic<int>(0);
  std::vector<pid_t> others;
  int rank = 0;
  for (int r = 1; r < size && rank == 0; ++r) {
    const pid_t child = ::fork();
    if (child < 0) {
      wrong("no process for a rank");
    }
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      rank = r;
    } else {
      others.push_back(child);
    }
  }
  cpu_set_t before;
  ::sched_getaffinity(0, sizeof before, &before);
  if (size > 1 && size <= CPU_COUNT(&before)) {
    int cpu = 0;
    for (int left = rank; !CPU_ISSET(cpu, &before) || left-- > 0;) {
      ++cpu;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  {
    auto endpoint =
        endpoint_of(rank, size, size > CPU_COUNT(&before), fabric_memory.as<std::byte>());
    const auto runtime =
        sinew::core::runtime::over(std::make_unique<own_session>(rank, size), std::move(endpoint),
                                   sinew::core::threading::one);
    meeting meet(*count, size);
    body(*runtime, meet);
    meet(*runtime);
  }
  if (rank != 0) {
    std::fflush(stdout);
    ::_exit(0);
  }
  ::sched_setaffinity(0, sizeof before, &before);
  for (const pid_t child : others) {
    int how = 0;
    ::waitpid(child, &how, 0);
    if (how != 0) {
      wrong("a rank failed");
    }
  }
}

}  // namespace micro

#endif
