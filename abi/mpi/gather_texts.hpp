// SPDX-License-Identifier: BSD-3-Clause
// What all ranks have to tell of their calls, brought to one of them: for SINEW_MPI_CHECK and the
// profile.
#pragma once

#include <string>
#include <vector>

#include "sinew/coll/collectives.hpp"

namespace sinew::mpi {

/// The texts of all ranks, by rank, at rank 0; nothing at the others, and where one has died.
/// Suspends. Cold.
[[nodiscard]] std::vector<std::string> gather_texts(coll::participant all, const std::string& mine);

}  // namespace sinew::mpi
