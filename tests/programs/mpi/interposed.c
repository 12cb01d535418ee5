// SPDX-License-Identifier: BSD-3-Clause
/* A tool replaces MPI_ functions by its own and calls ours by their PMPI_ names. */
#include "check.h"

static int calls = 0;

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  ++calls;
  return PMPI_Comm_rank(comm, rank);
}

int main(int argc, char** argv) {
  int rank = -1, again = -1, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_rank(MPI_COMM_WORLD, &again);
  CHECK(calls == 1);
  CHECK(rank == again && rank >= 0 && rank < size);
  MPI_Finalize();
  return 0;
}
