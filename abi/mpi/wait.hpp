// SPDX-License-Identifier: BSD-3-Clause
// Waits for one of several requests, as they are told to whoever asks what a rank waits for.
#pragma once

#include "sinew/core/runtime.hpp"

namespace sinew::mpi {

/// From now on MPI_Waitany and MPI_Waitsome tell of all messages that may end them. Once a process.
void explain_waits(core::runtime& rt);

}  // namespace sinew::mpi
