// SPDX-License-Identifier: BSD-3-Clause
/* A mistake that MPI programs often have: every rank waits for its neighbour before it sends
 * anything itself. Run it, and `sinew run` says so at once:
 *
 *     build/bin/sinew run -n 4 --on-deadlock end build/examples/deadlock
 *
 * MPI_Sendrecv, or a receive that is posted before (MPI_Irecv), is the cure. */
#include <mpi.h>
#include <stdio.h>

static double left_border, right_border;

static void exchange(int rank, int size) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Recv(&left_border, 1, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&right_border, 1, MPI_DOUBLE, right, 7, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  exchange(rank, size);
  printf("rank %d goes on\n", rank);
  MPI_Finalize();
  return 0;
}
