// SPDX-License-Identifier: BSD-3-Clause
/* A deadlock in one order of messages only: rank 0 answers whoever comes first, and then waits for
 * rank 1, which waits for its answer. */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, word = 0;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    MPI_Send(&word, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    MPI_Send(&word, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
  } else {
    if (rank == 2) {
      double began = MPI_Wtime();
      while (MPI_Wtime() - began < 0.3e-6) {
      }
    }
    MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) {
      MPI_Send(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
