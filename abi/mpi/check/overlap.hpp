// SPDX-License-Identifier: BSD-3-Clause
// SINEW_MPI_CHECK: whether two buffers of one call have bytes in common, which the standard
// forbids.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "c/mpi.h"

namespace sinew::mpi::check {

/// The bytes of a buffer. Types with gaps are left out, since those may hold another's data; so is
/// MPI_IN_PLACE. Throws MPI_ERR_COUNT and MPI_ERR_TYPE. Cold.
class bytes_of_buffer {
 public:
  bytes_of_buffer(const void* base, MPI_Count count, MPI_Datatype type);
  /// `n` blocks by displacements in extents of the type, or in bytes.
  bytes_of_buffer(const void* base, int n, const MPI_Count* counts, const MPI_Aint* displacements,
                  MPI_Datatype type);
  bytes_of_buffer(const void* base, int n, const MPI_Count* counts, const MPI_Aint* displacements,
                  const MPI_Datatype* types);

  [[nodiscard]] bool meet(const bytes_of_buffer& other) const;

 private:
  void add(const void* base, std::ptrdiff_t at, MPI_Count count, MPI_Datatype type,
           bool in_extents);

  using range = std::pair<std::uintptr_t, std::uintptr_t>;
  std::vector<range> ranges_;  ///< begin and end
};

/// Throws MPI_ERR_BUFFER if they meet. For calls of one rank: collectives tell the others.
void forbid_overlap(const bytes_of_buffer& send, const bytes_of_buffer& receive);

}  // namespace sinew::mpi::check
