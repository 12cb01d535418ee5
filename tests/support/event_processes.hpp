// SPDX-License-Identifier: BSD-3-Clause
// Ranks of the event module as processes of their own over shared memory, some of which are killed.
#pragma once

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
#include "sinew/base/ids.hpp"
#include "support/event_member.hpp"

namespace sinew::test {

/// What the processes share.
struct process_board {
  meeting_place place;
  std::atomic<std::uint64_t> words[64];
};

struct process_rank : event_member {
  process_board& board;

  /// All call it; `victim` does not return, the others do when it is gone, and rank `teller` has
  /// told the events so.
  void kill(int victim, int teller) const {
    settle();
    if (rank == victim) {
      ::kill(::getpid(), SIGKILL);
    }
    until([&] { return place.dead[victim].load(); });
    if (rank == teller) {
      events.lost(job_rank{victim});
    }
    until([&] { return events.is_lost(job_rank{victim}); });
  }
};

/// Runs body(process_rank&) as each rank. A failed expectation there fails the test here. Whoever
/// is killed by a signal is marked as dead on the board; `killed` must be.
template <class Body>
void run_event_processes(int ranks, std::vector<int> killed, Body body) {
  const shared_memory memory(fabric::shm_bytes_per_rank(ranks) * static_cast<std::size_t>(ranks));
  const shared_memory common(sizeof(process_board));
  auto& board = common.as<process_board>();
  if (launched()) {
    if (killed.empty() && is_launched_job(ranks)) {
      event::system events(launched_runtime(), {1u << 16, event::event::last_generation});
      process_rank me{
          {launched_runtime(), events, board.place, launched_runtime().rank().value(), ranks},
          board};
      me.meet();
      body(me);
      me.settle();
    }
    return;
  }
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (int r = 0; r < ranks; ++r) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::alarm(250);  // a hang ends
      fabric::node_memory where{};
      where.base = memory.base();
      where.bytes_per_rank = fabric::shm_bytes_per_rank(ranks);
      where.rank = job_rank{r};
      where.local_rank = local_rank{r};
      where.crowded = true;
      for (int i = 0; i < ranks; ++i) {
        where.local_ranks.push_back(job_rank{i});
      }
      {
        const auto own = core::runtime::over(std::make_unique<fake_session>(r, ranks),
                                             fabric::open_shm(where, false), core::threading::one);
        core::runtime& runtime = *own;
        event::system events(runtime, {1u << 16, event::event::last_generation});
        process_rank me{{runtime, events, board.place, r, ranks}, board};
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
      if (children[static_cast<std::size_t>(r)] != ended) {
        continue;
      }
      const bool meant = std::find(killed.begin(), killed.end(), r) != killed.end();
      EXPECT_EQ(WIFSIGNALED(how) ? WTERMSIG(how) : 0, meant ? SIGKILL : 0) << "rank " << r;
      EXPECT_TRUE(meant || WEXITSTATUS(how) == 0) << "rank " << r << " says more";
      board.place.dead[r].store(true);
    }
  }
}

}  // namespace sinew::test
