// SPDX-License-Identifier: BSD-3-Clause
// An MPI program for the tests of launchers: `launched WHAT [RANK [CODE]]`. `launched on` has no
// end, and `launched on -1 5` works for 5 s.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/// Every rank adds its number, in short and in long vectors; and a ring passes it on.
static void check_sums(void) {
  enum { many = 50000 };
  long* const longs = malloc(many * sizeof *longs);
  for (int i = 0; i < many; ++i) {
    longs[i] = rank + i;
  }
  MPI_Allreduce(MPI_IN_PLACE, longs, many, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < many; ++i) {
    if (longs[i] != (long)size * (size - 1) / 2 + (long)size * i) {
      printf("rank %d: sum %d is %ld\n", rank, i, longs[i]);
      MPI_Abort(MPI_COMM_WORLD, 99);
    }
  }
  free(longs);
  int from = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &from, 1, MPI_INT, (rank + size - 1) % size,
               7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (from != (rank + size - 1) % size) {
    printf("rank %d: its neighbour is %d\n", rank, from);
    MPI_Abort(MPI_COMM_WORLD, 98);
  }
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "sum";
  const int victim = argc > 2 ? atoi(argv[2]) : -1;
  const int code = argc > 3 ? atoi(argv[3]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_sums();
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int local = 0, locals = 0, length = 0;
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_Comm_rank(node, &local);
  MPI_Comm_size(node, &locals);
  MPI_Get_processor_name(name, &length);
  printf("rank %d of %d, local %d of %d on %s: good\n", rank, size, local, locals, name);
  fflush(stdout);
  if (rank == victim) {
    if (strcmp(what, "exit") == 0) {
      _exit(code);
    } else if (strcmp(what, "kill") == 0) {
      raise(SIGKILL);
    } else if (strcmp(what, "pause") == 0) {
      pause();
    } else if (strcmp(what, "abort") == 0) {
      MPI_Abort(MPI_COMM_WORLD, code);
    }
  }
  if (strcmp(what, "on") == 0) {
    const double begun = MPI_Wtime();
    for (int over = 0; !over;) {
      check_sums();
      over = argc > 3 && MPI_Wtime() - begun > code;
      MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
  }
  if (strcmp(what, "sum") != 0) {
    MPI_Barrier(MPI_COMM_WORLD);  // in which the others wait for the victim
  }
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
