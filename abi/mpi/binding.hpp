// SPDX-License-Identifier: BSD-3-Clause
// What the generated functions need beside the implementations: widening counts on the way in and
// narrowing them on the way out.
#pragma once

#include <climits>
#include <cstddef>
#include <memory>

#include "abi/mpi/comm.hpp"

namespace sinew::mpi {

/// An array of int counts as one of large counts. Null stays null. Allocates above 64 entries.
template <class Wide>
class widened {
 public:
  widened(const int* from, std::ptrdiff_t n) {
    if (from == nullptr) {
      return;
    }
    Wide* to = few_;
    if (n > few) {
      many_ = std::make_unique<Wide[]>(static_cast<std::size_t>(n));
      to = many_.get();
    }
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      to[i] = from[i];
    }
    data_ = to;
  }
  widened(const widened&) = delete;
  widened& operator=(const widened&) = delete;
  [[nodiscard]] const Wide* data() const noexcept { return data_; }

 private:
  static constexpr std::ptrdiff_t few = 64;
  Wide few_[few];
  std::unique_ptr<Wide[]> many_;
  const Wide* data_ = nullptr;
};

/// How many entries a count array has: one for each rank that data go to or come from (none if the
/// handle is bad: the implementation will say so). Of an intercommunicator those are the remote
/// group's.
[[nodiscard]] inline int members(MPI_Comm comm) noexcept {
  const comm_object* c = find_comm(comm);
  return c == nullptr ? 0 : c->comm->size();
}
/// The same for blocks that stay in the local group.
[[nodiscard]] inline int local_members(MPI_Comm comm) noexcept {
  const comm_object* c = find_comm(comm);
  return c == nullptr ? 0 : c->local_group().size();
}
/// The same for arrays that only the root reads.
[[nodiscard]] inline int members_at(MPI_Comm comm, int root) noexcept {
  const comm_object* c = find_comm(comm);
  if (c == nullptr ||
      (c->sides == nullptr ? c->comm->rank() != comm_rank{root} : root != MPI_ROOT)) {
    return 0;
  }
  return c->comm->size();
}
/// Neighbours in a process topology; 0 without one.
[[nodiscard]] int in_degree(MPI_Comm comm) noexcept;
[[nodiscard]] int out_degree(MPI_Comm comm) noexcept;

/// The communicator that a call is to end, whose handler decides about its errors.
[[nodiscard]] inline MPI_Comm handle_at(const MPI_Comm* comm) noexcept {
  return comm != nullptr ? *comm : MPI_COMM_NULL;
}

[[nodiscard]] inline MPI_Win handle_at(const MPI_Win* win) noexcept {
  return win != nullptr ? *win : MPI_WIN_NULL;
}
[[nodiscard]] inline MPI_File handle_at(const MPI_File* file) noexcept {
  return file != nullptr ? *file : MPI_FILE_NULL;
}

[[nodiscard]] inline int read(const int* p) {
  check_out(p, "position");
  return *p;
}

/// Values that do not fit are undefined to the small-count functions (MPI-5.0 section 2.5.8).
inline void narrow(MPI_Count wide, int* to) {
  if (to != nullptr) {
    *to = wide > INT_MAX || wide < INT_MIN ? MPI_UNDEFINED : static_cast<int>(wide);
  }
}

}  // namespace sinew::mpi
