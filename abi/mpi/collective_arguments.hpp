// SPDX-License-Identifier: BSD-3-Clause
// Arguments of collectives, checked and as coll takes them: blocking and nonblocking ones alike.
#pragma once

#include "abi/mpi/message.hpp"
#include "sinew/base/check.hpp"
#include "sinew/coll/collectives.hpp"

namespace sinew::mpi {

[[nodiscard]] inline bool in_place(const void* p) { return p == MPI_IN_PLACE; }

/// What a blocking collective returns; throws if it has failed. Hot.
int end(comm_object& c, p2p::fault f);

/// The send argument of calls that allow MPI_IN_PLACE there.
[[nodiscard]] inline p2p::buffer send_of(const void* base, MPI_Count count, MPI_Datatype type) {
  if (in_place(base)) {
    return {const_cast<void*>(base), 0, nullptr};
  }
  return data_of(base, count, type);
}

[[nodiscard]] inline p2p::buffer receive_of(void* base, MPI_Count count, MPI_Datatype type) {
  if (in_place(base)) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed as this buffer");
  }
  return data_of(base, count, type);
}

[[nodiscard]] inline coll::parts parts_of(int blocks, const void* base, const MPI_Count* counts,
                                          const MPI_Aint* displacements, MPI_Datatype type) {
  SINEW_EXPECT(blocks >= 0);
  if (blocks > 0) {
    check_out(counts, "counts");
    check_out(displacements, "displs");
  }
  bool empty = true;
  for (int r = 0; r < blocks; ++r) {
    check_count(counts[r]);
    empty = empty && counts[r] == 0;
  }
  SINEW_ASSERT(blocks == 0 || (counts != nullptr && displacements != nullptr));
  return {base, counts, displacements, &layout_of(type, empty)};
}

}  // namespace sinew::mpi
