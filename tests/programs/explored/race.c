// SPDX-License-Identifier: BSD-3-Clause
/* A race: rank 0 takes the first of two messages from any rank for rank 1's. It most often is,
 * since rank 2 sends its own after some work: 0.3 us for each rank, or as many as are named. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  const double work = argc > 1 ? atof(argv[1]) * 1e-6 : 0.3e-6;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      int number = 0;
      MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (number != i) {
        fprintf(stderr, "message %d came from rank %d\n", i, number);
        MPI_Abort(MPI_COMM_WORLD, 3);
      }
    }
  } else {
    double began = MPI_Wtime();
    while (MPI_Wtime() - began < work * rank) {
    }
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
