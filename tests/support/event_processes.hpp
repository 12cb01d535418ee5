// Ranks of the event room as processes of their own over shared memory, some of which are killed.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/event/system.hpp"
#include "support/job.hpp"

namespace sinew::test {

/// What the processes share.
struct process_board {
  static constexpr int most_ranks = 8;
  std::atomic<int> meetings[most_ranks];  ///< by rank: to how many it has come
  std::atomic<bool> dead[most_ranks];     ///< set by the parent once the process is gone for good
  std::atomic<std::uint64_t> words[64];
};

/// Memory of processes that are forked later, zero at first.
class shared_pages {
 public:
  explicit shared_pages(std::size_t bytes)
      : bytes_(bytes),
        base_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (base_ == MAP_FAILED) {
      throw std::bad_alloc();
    }
  }
  ~shared_pages() { ::munmap(base_, bytes_); }
  shared_pages(const shared_pages&) = delete;
  shared_pages& operator=(const shared_pages&) = delete;
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(base_); }

 private:
  std::size_t bytes_;
  void* base_;
};

struct process_rank {
  core::runtime& runtime;
  event::system& events;
  process_board& board;
  int rank;
  int size;

  template <class Ready>
  void until(Ready ready) const {
    while (!ready()) {
      if (runtime.poll() == 0) {
        sched_yield();
      }
    }
  }
  /// All ranks that are alive are here.
  void meet() const {
    const int mine = board.meetings[rank].fetch_add(1) + 1;
    for (int r = 0; r < size; ++r) {
      until([&] { return board.dead[r].load() || board.meetings[r].load() >= mine; });
    }
  }
  /// Like meet(), and answers to what was under way have come.
  void settle() const {
    for (int i = 0; i < 6; ++i) {
      meet();
      while (runtime.poll() != 0) {
      }
    }
  }
  /// All call it; `victim` does not return, the others do when it is gone, and rank `teller` has
  /// told the events so.
  void kill(int victim, int teller) const {
    settle();
    if (rank == victim) {
      ::kill(::getpid(), SIGKILL);
    }
    until([&] { return board.dead[victim].load(); });
    if (rank == teller) {
      events.lost(victim);
    }
    until([&] { return events.is_lost(victim); });
  }
};

/// Runs body(process_rank&) as each rank. A failed expectation there fails the test here. Whoever
/// is killed by a signal is marked as dead on the board; `killed` must be.
template <class Body>
void run_event_processes(int ranks, std::vector<int> killed, Body body) {
  const shared_pages memory(fabric::shm_bytes_per_rank(ranks) * static_cast<std::size_t>(ranks));
  const shared_pages common(sizeof(process_board));
  auto& board = *new (common.data()) process_board{};
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (int r = 0; r < ranks; ++r) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::alarm(60);  // a hang ends
      fabric::node_memory where{};
      where.base = memory.data();
      where.bytes_per_rank = fabric::shm_bytes_per_rank(ranks);
      where.rank = where.local_rank = r;
      where.crowded = true;
      for (int i = 0; i < ranks; ++i) {
        where.local_ranks.push_back(i);
      }
      {
        core::runtime runtime(std::make_unique<fake_session>(r, ranks),
                              fabric::open_shm(where, false), core::threading::one);
        event::system events(runtime, {1u << 16, event::event::last_generation});
        process_rank me{runtime, events, board, r, ranks};
        me.meet();
        body(me);
        me.settle();
      }
      std::fflush(nullptr);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (int left = ranks; left > 0; --left) {
    int how = 0;
    const pid_t ended = ::wait(&how);
    for (int r = 0; r < ranks; ++r) {
      if (children[static_cast<std::size_t>(r)] != ended) continue;
      const bool meant = std::find(killed.begin(), killed.end(), r) != killed.end();
      EXPECT_EQ(WIFSIGNALED(how) ? WTERMSIG(how) : 0, meant ? SIGKILL : 0) << "rank " << r;
      EXPECT_TRUE(meant || WEXITSTATUS(how) == 0) << "rank " << r << " says more";
      board.dead[r].store(true);
    }
  }
}

}  // namespace sinew::test
