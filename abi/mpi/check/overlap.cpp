// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/check/overlap.hpp"

#include <algorithm>

#include "abi/mpi/check/check.hpp"
#include "abi/mpi/comm.hpp"
#include "abi/mpi/type.hpp"

namespace sinew::mpi::check {

void bytes_of_buffer::add(const void* base, std::ptrdiff_t at, MPI_Count count, MPI_Datatype type,
                          bool in_extents) {
  check_count(count);
  if (count == 0 || base == MPI_IN_PLACE) {
    return;
  }
  const layout::datatype& t = layout_of(type);
  const std::size_t bytes = static_cast<std::size_t>(count) * t.size();
  if (t.dense() && bytes != 0) {
    const auto begin = reinterpret_cast<std::uintptr_t>(base) +
                       static_cast<std::uintptr_t>(in_extents ? at * t.extent() : at);
    ranges_.emplace_back(begin, begin + bytes);
  }
}

bytes_of_buffer::bytes_of_buffer(const void* base, MPI_Count count, MPI_Datatype type) {
  add(base, 0, count, type, false);
}

bytes_of_buffer::bytes_of_buffer(const void* base, int n, const MPI_Count* counts,
                                 const MPI_Aint* displacements, MPI_Datatype type) {
  for (int i = 0; base != MPI_IN_PLACE && counts != nullptr && i < n; ++i) {
    add(base, displacements[i], counts[i], type, true);
  }
}

bytes_of_buffer::bytes_of_buffer(const void* base, int n, const MPI_Count* counts,
                                 const MPI_Aint* displacements, const MPI_Datatype* types) {
  for (int i = 0; base != MPI_IN_PLACE && counts != nullptr && i < n; ++i) {
    add(base, displacements[i], counts[i], types[i], false);
  }
}

void forbid_overlap(const bytes_of_buffer& send, const bytes_of_buffer& receive) {
  if (send.meet(receive)) {
    found(MPI_ERR_BUFFER,
          "the two buffers overlap, of which the call reads one and writes the other");
  }
}

bool bytes_of_buffer::meet(const bytes_of_buffer& other) const {
  std::vector<range> a = ranges_, b = other.ranges_;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  // Of two that do not meet, the one that ends first meets none of the other's that follow.
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (x->first < y->second && y->first < x->second) {
      return true;
    }
    ++(x->second <= y->first ? x : y);
  }
  return false;
}

}  // namespace sinew::mpi::check
