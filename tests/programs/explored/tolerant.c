// SPDX-License-Identifier: BSD-3-Clause
/* Goes on whoever dies, and whenever (sinew explore --survive --faults ranks): rounds of sums, each
 * in the communicator of those that live; with the word "careless" it takes the size for that of
 * the beginning. */
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 12 };

/* Whether all that live have done the round. */
static int done(MPI_Comm comm, int code) {
  int flag = code == MPI_SUCCESS;
  return MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag;
}

static MPI_Comm without_the_dead(MPI_Comm comm) {
  MPI_Comm smaller;
  MPIX_Comm_revoke(comm);
  if (MPIX_Comm_shrink(comm, &smaller) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 5);
  }
  MPI_Comm_free(&comm);
  return smaller;
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  int began = 0, rank = 0;
  const int careless = argc > 1 && strcmp(argv[1], "careless") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_size(MPI_COMM_WORLD, &began);
  if (MPIX_Comm_shrink(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 5);
  }
  for (int round = 0; round < rounds;) {
    int one = 1, sum = 0, size = 0;
    MPI_Comm_size(comm, &size);
    if (!done(comm, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm))) {
      comm = without_the_dead(comm);
      continue;
    }
    if (sum != (careless ? began : size)) {
      fprintf(stderr, "round %d: the sum is %d of %d\n", round, sum, size);
      MPI_Abort(MPI_COMM_WORLD, 6);
    }
    ++round;
  }
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    printf("done\n");
  }
  MPI_Finalize();
  return 0;
}
