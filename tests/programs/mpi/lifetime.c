// SPDX-License-Identifier: BSD-3-Clause
/* Calls before MPI_Init, after MPI_Finalize, from atexit, and in a forked child. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static void at_exit(void) {
  int flag = 0, version = 0, subversion = 0;
  MPI_Finalized(&flag);
  MPI_Get_version(&version, &subversion);
  if (!flag || version != 5) _exit(9);
}

int main(int argc, char** argv) {
  int flag = 1, level = 0, main_thread = 0, status = 0, rank = 0;
  double before = 0;
  MPI_Initialized(&flag);
  if (flag) return 2;
  atexit(at_exit);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  CHECK(level >= MPI_THREAD_SERIALIZED);
  MPI_Is_thread_main(&main_thread);
  CHECK(main_thread);
  before = MPI_Wtime();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Init(&argc, &argv), MPI_ERR_OTHER, "already");
  const pid_t child = fork();
  if (child == 0) {
    MPI_Finalized(&flag);
    _exit(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS || flag ? 1 : 0);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(MPI_Wtime() >= before && MPI_Wtick() > 0);
  MPI_Finalize();
  MPI_Finalized(&flag);
  return flag ? 0 : 3;
}
