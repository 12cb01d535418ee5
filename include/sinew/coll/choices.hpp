// SPDX-License-Identifier: BSD-3-Clause
// Which algorithms there are, and which of them a call would take: for tools.
#pragma once

#include <cstddef>
#include <vector>

namespace sinew::coll {

/// A call with blocks or vectors of so many bytes, of ranks spread evenly over nodes.
struct imagined_call {
  std::size_t bytes = 8;
  int ranks = 4;
  int nodes = 1;
};

/// One row of the table of algorithms (algorithms.hpp).
struct algorithm_choice {
  const char* collective;
  const char* algorithm;
  const char* about;
  bool blocking;     ///< a blocking call takes it
  bool nonblocking;  ///< a nonblocking or persistent one does
};

/// All rows. Settings count. Cold.
[[nodiscard]] std::vector<algorithm_choice> choices(const imagined_call& of);

}  // namespace sinew::coll
