// Ranks for measuring programs of the event room and those above: processes forked from this one,
// over shared memory, without a launcher.
#ifndef SINEW_BENCH_EVENT_RANKS_HPP
#define SINEW_BENCH_EVENT_RANKS_HPP

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sinew/boot/session.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/event/system.hpp"
#include "sinew/fabric/fabric.hpp"

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
      if (runtime.poll() == 0) sched_yield();
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

class forked_session final : public sinew::boot::session {
 public:
  forked_session(int rank, int size) {
    place_.rank = place_.local_rank = rank;
    place_.size = place_.local_size = size;
    place_.local_ranks.clear();
    for (int r = 0; r < size; ++r) place_.local_ranks.push_back(r);
  }
  [[nodiscard]] const sinew::boot::place& where() const override { return place_; }
  void put(const std::string&, const std::string&) override {}
  [[nodiscard]] std::optional<std::string> get(const std::string&) override { return {}; }
  void fence() override {}
  [[nodiscard]] std::byte* map_node_memory(std::size_t) override { return nullptr; }
  [[nodiscard]] std::byte* map_node_heap(std::size_t) override { return nullptr; }
  [[noreturn]] void abort(int code, std::string_view) override { ::_exit(code); }
  void finalize() override {}

 private:
  sinew::boot::place place_;
};

inline std::byte* shared_pages(std::size_t bytes) {
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    std::perror("mmap");
    std::exit(3);
  }
  return static_cast<std::byte*>(base);
}

/// Runs body(rank_place&) on `ranks` processes, each bound to a processor if there is one for each;
/// false if one of them failed.
template <class Body>
bool on_ranks(int ranks, const sinew::event::options& how, Body body) {
  const std::size_t bytes = sinew::fabric::shm_bytes_per_rank(ranks);
  std::byte* const fabric = shared_pages(bytes * static_cast<std::size_t>(ranks));
  std::byte* const board = shared_pages(sizeof(rank_board));
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
      if (ranks <= cpus) pin(rank);
      auto session = std::make_unique<forked_session>(rank, ranks);
      std::unique_ptr<sinew::fabric::endpoint> endpoint;
      if (ranks == 1) {
        endpoint = std::move(sinew::fabric::open_inproc(1, false).front());
      } else {
        sinew::fabric::node_memory where{fabric, bytes, rank, rank, session->where().local_ranks};
        where.crowded = ranks > cpus;
        endpoint = sinew::fabric::open_shm(where, false);
      }
      sinew::core::runtime runtime(std::move(session), std::move(endpoint),
                                   sinew::core::threading::one);
      sinew::event::system events(runtime, how);
      rank_place place{runtime, events, *reinterpret_cast<rank_board*>(board), rank, ranks};
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
  ::munmap(fabric, bytes * static_cast<std::size_t>(ranks));
  ::munmap(board, sizeof(rank_board));
  return good;
}

}  // namespace micro

#endif
