// SPDX-License-Identifier: BSD-3-Clause
// Starts and ends: what `sinew bench launch` times from outside, launcher included.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Finalize();
  if (ranks < 2) {
    fprintf(stderr, "not enough ranks started as one job\n");
    return 2;
  }
  return 0;
}
