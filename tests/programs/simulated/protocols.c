// SPDX-License-Identifier: BSD-3-Clause
/* Whether a message leaves before its receive is known. Each word is of a length in bytes:
 * early:4096 says that such a send ends before the receive begins, waits:300000 that it does not.
 * Two ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double pause_s = 0.05;

int main(int argc, char** argv) {
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc; ++i) {
    const char* const colon = strchr(argv[i], ':');
    const int bytes = colon != NULL ? atoi(colon + 1) : -1;
    if (bytes < 0) {
      MPI_Abort(MPI_COMM_WORLD, 2);
      return 2;
    }
    char* const data = calloc((size_t)bytes + 1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      const double began = MPI_Wtime();
      MPI_Send(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      const int waits = MPI_Wtime() - began > pause_s / 2;
      if (waits != (strncmp(argv[i], "waits:", 6) == 0)) {
        fprintf(stderr, "%s: the send took %.6f s\n", argv[i], MPI_Wtime() - began);
        wrong = 1;
      }
    } else if (rank == 1) {
      nanosleep(&(struct timespec){0, (long)(pause_s * 1e9)}, NULL);
      MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(data);
  }
  MPI_Finalize();
  return wrong;
}
