// SPDX-License-Identifier: BSD-3-Clause
/* By `sinew run --survive`: the last rank is killed in the middle of an accumulate to rank 0 of its
 * node, which excludes all others while it lasts. They go on from what it has left. */
#include <mpi-ext.h>
#include <signal.h>
#include <sys/time.h>

#include "../check.h"

static void die(int sig) {
  (void)sig;
  raise(SIGKILL);
}

int main(int argc, char** argv) {
  enum { cells = 1 << 22 };
  const long one = 1, many = 1L << 40;
  int rank, size, n = 0, code = 0, error_class = 0;
  long *mine = NULL, value = 0;
  MPI_Win win;
  MPI_Comm smaller;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win_allocate(rank == 0 ? cells * (MPI_Aint)sizeof(long) : 0, sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &mine, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  for (int i = 0; rank == 0 && i < cells; ++i) mine[i] = 0;
  MPI_Win_lock_all(0, win);
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) {
    const struct itimerval soon = {{0, 0}, {0, 30000}};
    long* ones = (long*)malloc(cells * sizeof(long));
    for (int i = 0; i < cells; ++i) ones[i] = one;
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (;;) MPI_Accumulate(ones, cells, MPI_LONG, 0, 0, cells, MPI_LONG, MPI_SUM, win);
  }
  code = MPI_Recv(&value, 1, MPI_LONG, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Error_class(code, &error_class);
  CHECK(error_class == MPIX_ERR_PROC_FAILED);
  for (int i = 0; i < 100; ++i) {
    CHECK(MPI_Accumulate(&many, 1, MPI_LONG, 0, i, 1, MPI_LONG, MPI_SUM, win) == MPI_SUCCESS);
  }
  CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &smaller) == MPI_SUCCESS);
  MPI_Comm_size(smaller, &n);
  CHECK(n == size - 1 && MPI_Barrier(smaller) == MPI_SUCCESS);
  for (int i = 0; rank == 0 && i < 100; ++i) CHECK(mine[i] / many == size - 1);
  /* Whole elements, each as often as the last one or once more. */
  for (int i = 0; rank == 0 && i < cells; ++i) {
    CHECK(mine[i] % many - mine[cells - 1] == 0 || mine[i] % many - mine[cells - 1] == 1);
  }
  if (rank == 0) printf("survived\n");
  MPI_Finalize();
  return 0;
}
