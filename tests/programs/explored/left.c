// SPDX-License-Identifier: BSD-3-Clause
/* A deadlock once a rank has died (sinew simulate --survive): the others learn of it, and then wait
 * for each other. */
#include <mpi.h>
#include <signal.h>

int main(int argc, char** argv) {
  int rank, word = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 2) {
    raise(SIGKILL);
  }
  if (MPI_Recv(&word, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  MPI_Recv(&word, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
