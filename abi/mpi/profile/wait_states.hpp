// SPDX-License-Identifier: BSD-3-Clause
// Who has waited for whom: the samples of all ranks, compared (samples.hpp). The states are
// Scalasca's (F. Wolf and B. Mohr, "Automatic performance analysis of hybrid MPI/OpenMP
// applications", 2003): a receive that has waited before its message was sent, a send before its
// receive was called, ranks in a collective before the last one that they depend on has come.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "abi/mpi/profile/clocks.hpp"
#include "abi/mpi/profile/table.hpp"

namespace sinew::mpi::profile {

/// The same moment by both clocks.
struct clock_anchor {
  std::int64_t moment = 0;
  std::int64_t ns = 0;
};
/// When the profile begins, and when it ends.
struct anchors {
  clock_anchor begin, end;
};

/// What this rank tells of its samples, for wait_states(). `number_of` has the place of each row in
/// the rank's list of calls.
[[nodiscard]] std::string samples_text(const std::map<const row*, int>& number_of,
                                       const anchors& by, const clock_pair& clock);

/// JSON of what those of all ranks say, for the file: `"waits":[...],...`.
[[nodiscard]] std::string wait_states(const std::vector<std::string>& of_ranks);

}  // namespace sinew::mpi::profile
