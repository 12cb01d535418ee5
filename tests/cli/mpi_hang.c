// SPDX-License-Identifier: BSD-3-Clause
/* Rank 0 comes into what argv[1] names, rank 1 never does: it sleeps until the job is ended. With
   "later" in argv[2] some collectives come before, as from then on they go over shared memory. With
   a rank in argv[3] all but that one come. */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Made by all ranks, if argv[1] needs it. */
static MPI_Comm copy;
static MPI_Win window;

static void make(const char* what) {
  static int memory = 0;
  if (strcmp(what, "disconnect") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (strcmp(what, "fence") == 0 || strcmp(what, "win_free") == 0) {
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  }
}

static void rank_0(const char* what) {
  int value = 0;
  int flag = 0;
  MPI_Request request;
  if (strcmp(what, "test") == 0) {
    MPI_Irecv(&value, 1, MPI_INT, 1, 17, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  } else if (strcmp(what, "testall, slowly") == 0) {
    MPI_Irecv(&value, 1, MPI_INT, 1, 17, MPI_COMM_WORLD, &request);
    while (!flag) {
      usleep(10000);
      MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
    }
  } else if (strcmp(what, "probe") == 0) {
    MPI_Probe(1, 23, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(what, "probe any") == 0) {
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  } else if (strcmp(what, "iprobe") == 0) {
    while (!flag) MPI_Iprobe(1, 29, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  } else if (strcmp(what, "recv") == 0) {
    MPI_Recv(&value, 1, MPI_INT, 1, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(what, "ssend") == 0) {
    MPI_Ssend(&value, 1, MPI_INT, 1, 37, MPI_COMM_WORLD);
  } else if (strcmp(what, "bcast") == 0) {
    MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
  } else if (strcmp(what, "reduce") == 0) {
    MPI_Reduce(&value, &flag, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  } else if (strcmp(what, "barrier") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what, "finalize") == 0) {
    MPI_Finalize();
  } else if (strcmp(what, "fence") == 0) {
    MPI_Win_fence(0, window);
  } else if (strcmp(what, "win_free") == 0) {
    MPI_Win_free(&window);
  } else if (strcmp(what, "disconnect") == 0) {
    MPI_Comm_disconnect(&copy);
  } else if (strcmp(what, "dup") == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  }
}

/* By `sinew run --survive`: two ranks in agreements that wait for each other. */
static void agree_apart(int rank, const char* what) {
  MPI_Comm left;
  int flag = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank == 0) MPIX_Comm_shrink(strcmp(what, "shrink, one") == 0 ? MPI_COMM_WORLD : copy, &left);
  if (rank == 1) MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
}

int main(int argc, char** argv) {
  int rank = 0;
  int provided = 0;
  const int threads = argc > 2 && strstr(argv[2], "threads") != NULL;
  const int before = argc > 2 && strstr(argv[2], "later") != NULL ? 5 : 1;
  MPI_Init_thread(NULL, NULL, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < before; ++i) MPI_Barrier(MPI_COMM_WORLD);
  make(argv[1]);
  if (strncmp(argv[1], "shrink", 6) == 0) agree_apart(rank, argv[1]);
  const int absent = argc > 3 ? atoi(argv[3]) : -1;
  if (absent < 0 ? rank == 0 : rank != absent) rank_0(argv[1]);
  sleep(200);
  return 0;
}
