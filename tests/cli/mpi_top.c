// SPDX-License-Identifier: BSD-3-Clause
/* Rank 0 sends messages of 1,000 bytes now and then, rank 1 waits for them, rank 2 computes; others
 * wait for ever. With an argument rank 0 goes on that many times alone, as a process of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int never = 0;

int main(int argc, char** argv) {
  static char bytes[1000];
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("ready\n");
  fflush(stdout);
  if (size == 1) {
    for (long left = argc > 1 ? atol(argv[1]) : 1; left > 0; --left) {
      MPI_Sendrecv(bytes, 10, MPI_CHAR, 0, 1, bytes + 500, 10, MPI_CHAR, 0, 1, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      usleep(1000);
    }
  } else if (rank == 0) {
    for (;;) {
      MPI_Send(bytes, sizeof bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
      usleep(2000);
    }
  } else if (rank == 1) {
    for (;;) {
      MPI_Recv(bytes, sizeof bytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else if (rank == 2) {
    while (never == 0) {
    }
  } else {
    MPI_Recv(bytes, sizeof bytes, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
