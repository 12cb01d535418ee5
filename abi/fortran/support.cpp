// SPDX-License-Identifier: BSD-3-Clause
// What convert.hpp declares: the part that is there once, however the procedures are called.
#include <algorithm>
#include <cstring>

#include "abi/fortran/convert.hpp"

namespace sinew::fortran {
namespace {

/// Neighbours of a graph or a distributed graph; of a Cartesian communicator twice its dimensions.
void neighbours(MPI_Comm comm, int& in, int& out) {
  int kind = MPI_UNDEFINED;
  int weighted = 0;
  in = out = 0;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  } else if (kind == MPI_GRAPH) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &in);
    out = in;
  } else if (kind == MPI_CART) {
    PMPI_Cartdim_get(comm, &in);
    out = in *= 2;
  }
}

int ranks_at_the_other_end(MPI_Comm comm) {
  int inter = 0;
  int count = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter != 0) {
    PMPI_Comm_remote_size(comm, &count);
  } else {
    PMPI_Comm_size(comm, &count);
  }
  return count;
}

std::size_t without_blanks(const char* from, std::size_t length) {
  while (length > 0 && from[length - 1] == ' ') {
    --length;
  }
  return length;
}

}  // namespace

int out_peers(const int* comm, bool of_neighbours) {
  const MPI_Comm c = from_fortran<MPI_Comm>(comm);
  if (!of_neighbours) {
    return ranks_at_the_other_end(c);
  }
  int in = 0;
  int out = 0;
  neighbours(c, in, out);
  return out;
}

int in_peers(const int* comm, bool of_neighbours) {
  const MPI_Comm c = from_fortran<MPI_Comm>(comm);
  if (!of_neighbours) {
    return ranks_at_the_other_end(c);
  }
  int in = 0;
  int out = 0;
  neighbours(c, in, out);
  return in;
}

int dimensions(const int* comm) {
  int kind = MPI_UNDEFINED;
  int count = 0;
  const MPI_Comm c = from_fortran<MPI_Comm>(comm);
  if (PMPI_Topo_test(c, &kind) == MPI_SUCCESS && kind == MPI_CART) {
    PMPI_Cartdim_get(c, &count);
  }
  return count;
}

text_in::text_in(const char* from, std::size_t length, blanks trimmed)
    : text_(static_cast<long>(length) + 1) {
  length = without_blanks(from, length);
  std::size_t first = 0;
  while (trimmed == blanks::both_ends && first < length && from[first] == ' ') {
    ++first;
  }
  std::memcpy(text_.data(), from + first, length - first);
  text_[length - first] = '\0';
}

text_out::~text_out() {
  const std::size_t length = std::min(std::strlen(text_.data()), length_);
  std::memcpy(to_, text_.data(), length);
  std::memset(to_ + length, ' ', length_ - length);
}

}  // namespace sinew::fortran
