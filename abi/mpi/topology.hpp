// SPDX-License-Identifier: BSD-3-Clause
// What a communicator knows of its neighbours (MPI-5.0 chapter 8). Ranks keep their order: a
// topology gives them places, whether or not the program allows others.
#pragma once

#include <vector>

#include "c/mpi.h"

namespace sinew::mpi {

/// Never changed once it is made: duplicates share it.
struct topology {
  int kind = MPI_UNDEFINED;  ///< MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH

  // Cartesian; the last dimension varies fastest. No dimension: one rank.
  std::vector<int> dims;
  std::vector<int> periods;

  // Graph: the edges of rank r end before index[r].
  std::vector<int> index;
  std::vector<int> edges;

  // Distributed graph: this rank's own edges.
  std::vector<int> sources;
  std::vector<int> destinations;
  std::vector<int> source_weights;  ///< empty if not weighted
  std::vector<int> destination_weights;
  bool weighted = false;

  [[nodiscard]] std::vector<int> coords_of(int rank) const;
  /// The rank at these coordinates, wrapped where the dimension is periodic; MPI_PROC_NULL outside.
  [[nodiscard]] int rank_at(const std::vector<long long>& coords) const;
  /// The rank `by` steps from `rank` in one dimension, or MPI_PROC_NULL.
  [[nodiscard]] int shifted(int rank, int dimension, long long by) const;
};

}  // namespace sinew::mpi
