// SPDX-License-Identifier: BSD-3-Clause
// Tests as ranks of a job that `sinew run` has started, on one host or several: each process runs
// the same ones, and of their jobs those that have as many ranks as there are processes.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "sinew/core/job.hpp"

namespace sinew::test {

/// A file of zeros that all ranks share, from SINEW_TEST_BOARD; null: this is no such job.
inline const char* board_file() {
  static const char* const name = std::getenv("SINEW_TEST_BOARD");
  return name;
}
inline bool launched() { return board_file() != nullptr; }

/// The process's runtime. The job ends in order when the last test has.
inline core::runtime& launched_runtime() {
  static core::runtime& joined = [&]() -> core::runtime& {
    core::runtime& r = core::join_job(core::threading::many);
    std::atexit([] { core::leave_job(); });
    return r;
  }();
  return joined;
}

/// Whether this is a job of so many ranks; says so, for who counts the jobs.
inline bool is_launched_job(int ranks) {
  if (launched_runtime().size() != ranks) {
    return false;
  }
  if (launched_runtime().rank() == 0) {
    std::printf("a job of %d launched ranks\n", ranks);
    std::fflush(stdout);
  }
  return true;
}

/// The next pages of the file. All ranks ask for the same, in one order.
inline void* pages_of_board(std::size_t bytes) {
  static off_t next = 0;
  const int file = ::open(board_file(), O_RDWR | O_CLOEXEC);
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, next);
  ::close(file);
  constexpr off_t page = 4096;
  next += (static_cast<off_t>(bytes) + page - 1) / page * page;
  return at;
}

/// Takes what has arrived; between hosts, what the network still has.
inline void drain(core::runtime& runtime) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds quiet{10};
  auto last = clock::now();
  do {
    while (runtime.poll() != 0) {
      last = clock::now();
    }
  } while (launched() && clock::now() - last < quiet);
}

}  // namespace sinew::test
