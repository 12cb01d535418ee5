// SPDX-License-Identifier: BSD-3-Clause
/* A message that is too long ends the job, and the report names tag, source and both sizes. */
#include <mpi.h>

int main(int argc, char** argv) {
  int data[200] = {0}, rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    MPI_Send(data, 200, MPI_INT, 0, 7, MPI_COMM_WORLD);
  } else if (rank == 0) {
    MPI_Recv(data, 100, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
