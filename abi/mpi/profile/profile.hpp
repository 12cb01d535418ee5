// SPDX-License-Identifier: BSD-3-Clause
// SINEW_MPI_PROFILE: how long each rank is in MPI, by the lines that call it, and what it sends to
// whom. One of the two that listen to calls (watch.hpp); at MPI_Finalize rank 0 writes what all
// have counted.
#pragma once

#include "abi/mpi/watch.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::mpi::profile {

[[nodiscard]] bool wanted() noexcept;

/// A call has ended, well or not. Some 30 ns, without memory or lock, but for the first call from
/// each place. Any thread; a fiber may have come to another one during the call.
void end(const watch::call& call) noexcept;
/// Of each message that is sent or has arrived. In the thread that sends, or polls.
void see(const p2p::incident& message) noexcept;

/// MPI_Init is over. Suspends. Cold.
void start();
/// MPI_Finalize begins: what follows is not counted. Cold.
void stop() noexcept;
/// Writes the file. All ranks of MPI_COMM_WORLD, before they part. Suspends. Cold.
void finish();

}  // namespace sinew::mpi::profile
