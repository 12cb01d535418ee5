// SPDX-License-Identifier: BSD-3-Clause
// The state of the MPI binding: one per process, because MPI's interface has it so. Everything
// below the binding takes its runtime by argument.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>

#include "abi/mpi/errors.hpp"
#include "sinew/boot/pulse.hpp"
#include "sinew/core/communicator.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::mpi {

struct request_pool;

enum class phase : int { before, running, after, forked };
static_assert(std::atomic<phase>::is_always_lock_free);  // written by a handler of fork()

struct world {
  /// Written by init and finalize; read at the head of every call.
  std::atomic<phase> now{phase::before};
  /// The same for what MPI_Init and MPI_Finalize bound; sessions may use the library before and
  /// after. Written under the lock of init, read by anybody; nothing depends on it, so relaxed.
  std::atomic<phase> world_model{phase::before};
  /// By the last two bits of the handle: 1 MPI_COMM_WORLD, 2 MPI_COMM_SELF.
  comm_object* comms[4] = {};
  /// The program has chosen MPI_COMM_SELF's error handler. Only the default depends on it; relaxed.
  std::atomic<bool> self_has_handler{false};
  p2p::engine* engine = nullptr;
  core::communicator* job = nullptr;  ///< all ranks, for calls without a parent communicator
  MPI_Comm parent = nullptr;          ///< of a spawned rank, until the program frees it
  core::runtime* runtime = nullptr;
  request_pool* requests = nullptr;
  int thread_level = MPI_THREAD_SINGLE;
  bool threaded = false;
  pthread_t main_thread{};
};

/// Constant-initialised; never destroyed in effect (MPI may be called from atexit).
extern world process;

/// Throws: the library is not initialised, or is finalised already. Cold.
[[noreturn, gnu::cold]] void not_running();

/// Throws if the library does not run.
inline void must_run() {
  if (process.now.load(std::memory_order_relaxed) != phase::running) [[unlikely]] {
    not_running();
  }
}

/// Changes process.now, and what follows from it. Cold.
void set_phase(phase p) noexcept;

/// False: MPI does not run, or somebody listens; the binding makes a watch::call then. Hot.
[[nodiscard]] inline bool is_open() noexcept {
  return boot::own_pulse.open.load(std::memory_order_relaxed);
}

/// Head of each call.
inline void note(const char* name) noexcept { current_call = name; }

}  // namespace sinew::mpi
