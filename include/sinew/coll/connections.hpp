// SPDX-License-Identifier: BSD-3-Clause
// Communicators with ranks that were not started together with this one.
#pragma once

#include "sinew/boot/spawn.hpp"
#include "sinew/coll/communicators.hpp"

namespace sinew::coll {

/// The ranks that this one shares communicators with and that were not started together with it.
/// Cold, any thread.
[[nodiscard]] boot::connections connections(p2p::engine& engine);
/// MPI_Comm_disconnect of `comm`: from here on its strangers are those that this rank is leaving;
/// false if it has none. Then it is as if it were gone. Cold, any thread.
[[nodiscard]] bool begin_to_leave(p2p::engine& engine, const core::communicator& comm);
void end_leaving(p2p::engine& engine, const core::communicator& comm);

}  // namespace sinew::coll
