// SPDX-License-Identifier: BSD-3-Clause
/* A number goes round the ring of ranks ten times, and all agree on it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int number = rank;
  for (int i = 0; i < 10; ++i) {
    MPI_Sendrecv_replace(&number, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("sum %d\n", sum);
  }
  MPI_Finalize();
  return sum != size * (size - 1) / 2;
}
