// SPDX-License-Identifier: BSD-3-Clause
/* By `sinew run --survive`: the last rank dies before rank 0 copies a message from its memory, and
 * the launcher, stopped meanwhile, has not told yet. The receive ends as soon as it has. With two
 * ranks the message is the first, so that rank 0 does not know yet whether it may copy. */
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

#include "../check.h"

enum { cells = 1 << 16, looks = 20000 };

static int words[cells];

/* Nothing of its memory is there any more. */
static int has_ended(int pid) {
  char path[64], state = 'Z';
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE* f = fopen(path, "r");
  if (f == NULL) return 1;
  if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
  fclose(f);
  return state == 'Z' || state == 'X';
}

static void die(void) {
  MPI_Request request;
  const int pid = getpid();
  MPI_Isend(words, cells, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
  kill(getppid(), SIGSTOP);
  MPI_Send(&pid, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  raise(SIGKILL);
}

static void copy(int from) {
  MPI_Request request;
  int pid = 0, flag = 0, error_class = 0;
  MPI_Recv(&pid, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  while (!has_ended(pid)) usleep(1000);
  MPI_Irecv(words, cells, MPI_INT, from, 1, MPI_COMM_WORLD, &request);
  for (int i = 0; i < looks && !flag; ++i) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag);
  kill(getppid(), SIGCONT);
  MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &error_class);
  CHECK(error_class == MPIX_ERR_PROC_FAILED);
}

int main(int argc, char** argv) {
  int rank, size, n = 0;
  MPI_Comm smaller;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (size > 2 && rank == size - 1) MPI_Send(words, cells, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (size > 2 && rank == 0) {
    MPI_Recv(words, cells, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == size - 1) die();
  if (rank == 0) copy(size - 1);
  CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &smaller) == MPI_SUCCESS);
  MPI_Comm_size(smaller, &n);
  CHECK(n == size - 1 && MPI_Barrier(smaller) == MPI_SUCCESS);
  if (rank == 0) printf("survived\n");
  MPI_Finalize();
  return 0;
}
