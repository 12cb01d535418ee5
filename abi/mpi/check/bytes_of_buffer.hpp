// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a call's buffers, and whether two buffers have some in common.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "c/mpi.h"
#include "sinew/layout/datatype.hpp"

namespace sinew::mpi::check {

/// The bytes of a buffer; none of MPI_IN_PLACE, and where the arguments are wrong, which the call
/// itself tells. Of types with very many gaps the first ones only. Cold.
class bytes_of_buffer {
 public:
  using range = std::pair<std::uintptr_t, std::uintptr_t>;  ///< begin and end

  bytes_of_buffer() = default;
  bytes_of_buffer(const void* base, MPI_Count count, MPI_Datatype type);
  /// `n` blocks by displacements in extents of the type, or in bytes.
  bytes_of_buffer(const void* base, int n, const MPI_Count* counts, const MPI_Aint* displacements,
                  MPI_Datatype type);
  bytes_of_buffer(const void* base, int n, const MPI_Count* counts, const MPI_Aint* displacements,
                  const MPI_Datatype* types);

  [[nodiscard]] bool meet(const bytes_of_buffer& other) const;
  /// In no order.
  [[nodiscard]] const std::vector<range>& ranges() const noexcept { return ranges_; }
  /// Of what the memory holds now.
  [[nodiscard]] std::uint64_t hash() const noexcept;

 private:
  void add(const void* base, std::ptrdiff_t at, MPI_Count count, MPI_Datatype type,
           bool in_extents);

  std::vector<range> ranges_;
};

}  // namespace sinew::mpi::check
