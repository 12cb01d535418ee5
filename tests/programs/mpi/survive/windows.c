// SPDX-License-Identifier: BSD-3-Clause
/* By `sinew run --survive`: a rank dies while others work on its window memory, and while it holds
 * locks. What has to do with it ends, and says so; the others go on. At least 3 ranks. Memory of a
 * rank of the same node can be reached after its death; with the word "far" rank 1 is on another
 * one. */
#include <mpi-ext.h>
#include <signal.h>

#include "../check.h"

static int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}

int main(int argc, char** argv) {
  enum { cells = 1 << 16, most_tries = 1000000 };
  int rank, size, code = MPI_SUCCESS, tries = 0, n = 0, dead = 0;
  const int far = argc > 1 && strcmp(argv[1], "far") == 0;
  long *mine = NULL, value = 1;
  static long many[cells];
  MPI_Win win, own;
  MPI_Comm smaller;
  MPI_Group failed;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win_allocate(sizeof many, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  /* Memory of the program's own, which other processes of a node reach by the kernel's copies. */
  MPI_Win_create(many, sizeof many, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own);
  MPI_Win_set_errhandler(own, MPI_ERRORS_RETURN);
  const int victim = size - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) { /* it has a lock at rank 0 */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Send(&value, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  if (rank == 1) { /* it works on the victim's memory until that ends */
    MPI_Recv(&value, 1, MPI_LONG, victim, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, victim, 0, win) == MPI_SUCCESS);
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, victim, MPI_MODE_NOCHECK, own) == MPI_SUCCESS);
    CHECK(MPI_Get(&value, 1, MPI_LONG, victim, 0, 1, MPI_LONG, own) == MPI_SUCCESS);
    CHECK(MPI_Win_flush(victim, own) == MPI_SUCCESS);
    MPI_Send(&value, 1, MPI_LONG, victim, 0, MPI_COMM_WORLD);
    for (; code == MPI_SUCCESS && tries < most_tries && dead == 0; ++tries) {
      code = tries % 3 == 0   ? MPI_Put(many, cells, MPI_LONG, victim, 0, cells, MPI_LONG, win)
             : tries % 3 == 1 ? MPI_Get(many, cells, MPI_LONG, victim, 0, cells, MPI_LONG, win)
                              : MPI_Accumulate(&value, 1, MPI_LONG, victim, 0, 1, MPI_LONG, MPI_SUM,
                                               win);
      code = code == MPI_SUCCESS ? MPI_Win_flush(victim, win) : code;
      MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed);
      MPI_Group_size(failed, &dead);
      MPI_Group_free(&failed);
    }
    CHECK(dead == 1 && (code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED));
    code = MPI_Put(&value, 1, MPI_LONG, victim, 0, 1, MPI_LONG, win);
    CHECK(class_of(code) == MPIX_ERR_PROC_FAILED || !far);
    (void)MPI_Win_unlock(victim, win);
    CHECK(class_of(MPI_Get(&value, 1, MPI_LONG, victim, 0, 1, MPI_LONG, own)) ==
          MPIX_ERR_PROC_FAILED);
    CHECK(class_of(MPI_Accumulate(&value, 1, MPI_LONG, victim, 0, 1, MPI_LONG, MPI_SUM, own)) ==
          MPIX_ERR_PROC_FAILED);
    (void)MPI_Win_unlock(victim, own);
  } else {
    CHECK(class_of(MPI_Recv(&value, 1, MPI_LONG, victim, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) ==
          MPIX_ERR_PROC_FAILED);
  }
  /* The lock that it had is nobody's any more. */
  CHECK(class_of(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)) == MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Win_fence(0, win)) == MPIX_ERR_PROC_FAILED);
  CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &smaller) == MPI_SUCCESS);
  MPI_Comm_size(smaller, &n);
  CHECK(n == size - 1 && MPI_Barrier(smaller) == MPI_SUCCESS);
  if (rank == 0) printf("survived\n");
  MPI_Finalize();
  return 0;
}
