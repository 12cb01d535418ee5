// Ranks for measuring programs of the event module and those above: processes forked from this one,
// over shared memory, without a launcher.
#ifndef SINEW_BENCH_EVENT_RANKS_HPP
#define SINEW_BENCH_EVENT_RANKS_HPP

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <vector>

#include "ranks.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/event/system.hpp"

namespace micro {

/// Shared by all ranks: a place to meet and words to pass handles.
struct rank_board {
  std::atomic<int> arrived;
  std::atomic<int> round;
  std::atomic<std::uint64_t> words[65536];
};

/// What one rank has.
struct rank_place {
  sinew::core::runtime& runtime;
  sinew::event::system& events;
  rank_board& board;
  int rank;
  int size;

  template <class Ready>
  void until(Ready ready) {
    while (!ready()) {
      if (runtime.poll() == 0) {
        sched_yield();
      }
    }
  }
  /// All are here; they make progress meanwhile.
  void meet() {
    const int mine = board.round.load();
    if (board.arrived.fetch_add(1) + 1 == size) {
      board.arrived.store(0);
      board.round.fetch_add(1);
    }
    until([&] { return board.round.load() != mine; });
  }
};

/// Runs body(rank_place&) on `ranks` processes, each bound to a processor if there is one for each;
/// false if one of them failed.
template <class Body>
bool on_ranks(int ranks, const sinew::event::options& how, Body body) {
  shared_memory fabric(sinew::fabric::shm_bytes_per_rank(ranks) * static_cast<std::size_t>(ranks));
  shared_memory board(sizeof(rank_board));
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
      if (ranks <= cpus) {
        pin(rank);
      }
      const auto own =
          sinew::core::runtime::over(std::make_unique<own_session>(rank, ranks),
                                     endpoint_of(rank, ranks, ranks > cpus, fabric.as<std::byte>()),
                                     sinew::core::threading::one);
      sinew::core::runtime& runtime = *own;
      sinew::event::system events(runtime, how);
      rank_place place{runtime, events, *board.as<rank_board>(), rank, ranks};
      place.meet();
      body(place);
      place.meet();
      std::fflush(nullptr);
      ::_exit(0);
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

}  // namespace micro

#endif
