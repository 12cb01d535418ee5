// SPDX-License-Identifier: BSD-3-Clause
/* What profile_test.py looks for: calls whose number, bytes and lines are known. Lines that it
   names end with a mark. Instead, by an argument: "late": ranks are late by 0.6 s in several ways;
   "many": more messages and collectives than are compared; "threads": several threads call;
   "calls": how long short calls take;
   "crash": rank 1 ends without MPI_Finalize. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { times = 50, long_message = 1 << 20 };
#define WORLD MPI_COMM_WORLD
#define UNASKED MPI_STATUS_IGNORE
static int rank, size;

static void exchange(void) {
  int values[25] = {0};
  for (int i = 0; i < times; ++i) {
    if (rank == 0) MPI_Send(values, 25, MPI_INT, 1, 1, WORLD); /* send */
    if (rank == 1) MPI_Recv(values, 25, MPI_INT, 0, 1, WORLD, UNASKED); /* recv */
  }
}

static void ring(void) {
  double out = rank, in[4];
  MPI_Request requests[2];
  MPI_Irecv(in, 4, MPI_DOUBLE, (rank + size - 1) % size, 2, WORLD, &requests[0]); /* irecv */
  MPI_Isend(&out, 1, MPI_DOUBLE, (rank + 1) % size, 2, WORLD, &requests[1]); /* isend */
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* waitall */
}

static void together(void) {
  double value = rank, sum;
  int* all = malloc(sizeof(int) * (size_t)size * 4);
  int own[4] = {0};
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* allreduce */
  MPI_Bcast(own, 4, MPI_INT, 1, WORLD); /* bcast */
  MPI_Gather(own, 4, MPI_INT, all, 4, MPI_INT, 0, WORLD); /* gather */
  MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 4, MPI_INT, WORLD); /* in place */
  free(all);
}

static void one_sided(void) {
  char* base;
  char data[64] = {0};
  MPI_Win win;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, WORLD, &base, &win);
  MPI_Win_fence(0, win);
  MPI_Put(data, 64, MPI_CHAR, (rank + 1) % size, 0, 64, MPI_CHAR, win); /* put */
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void persistent(void) {
  int value = 0;
  MPI_Request request;
  if (rank == 0) MPI_Send_init(&value, 1, MPI_INT, 1, 3, WORLD, &request);
  if (rank == 1) MPI_Recv_init(&value, 1, MPI_INT, 0, 3, WORLD, &request);
  for (int i = 0; i < 3 && rank < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, UNASKED);
  }
  if (rank < 2) MPI_Request_free(&request);
}

static void late(int who) {
  if (rank == who) usleep(600000);
}

/* Ranks 0 to 2 of three; one is late each time, and others wait for it. */
static void waiting(void) {
  static char big[long_message];
  int value = 0, sum = 0, any = 0;
  MPI_Request request;
  MPI_Barrier(WORLD);
  late(1);
  if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 1, WORLD); /* late send */
  if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 1, WORLD, UNASKED); /* early recv */
  MPI_Barrier(WORLD);
  if (rank == 0) MPI_Irecv(&any, 1, MPI_INT, MPI_ANY_SOURCE, 4, WORLD, &request);
  late(2);
  if (rank == 2) MPI_Send(&value, 1, MPI_INT, 0, 4, WORLD); /* later send */
  if (rank == 0) MPI_Wait(&request, UNASKED); /* early wait */
  MPI_Barrier(WORLD);
  late(2);
  if (rank == 1) MPI_Ssend(&value, 1, MPI_INT, 2, 5, WORLD); /* early ssend */
  if (rank == 2) MPI_Recv(&value, 1, MPI_INT, 1, 5, WORLD, UNASKED); /* late recv */
  MPI_Barrier(WORLD);
  late(0);
  if (rank == 1) MPI_Send(big, long_message, MPI_CHAR, 0, 6, WORLD); /* early send */
  if (rank == 0) MPI_Recv(big, long_message, MPI_CHAR, 1, 6, WORLD, UNASKED); /* big recv */
  MPI_Barrier(WORLD);
  late(1);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD); /* unbalanced */
  MPI_Barrier(WORLD);
  late(2);
  MPI_Bcast(&value, 1, MPI_INT, 2, WORLD); /* late root */
}

static void many(void) {
  int value = 0;
  for (int i = 0; i < 40000; ++i) {
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 1, WORLD);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 1, WORLD, UNASKED);
  }
}

static void calls(void) {
  const int often = 10000000;
  const double began = MPI_Wtime();
  MPI_Request none = MPI_REQUEST_NULL;
  int flag = 0;
  for (int i = 0; i < often; ++i) MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
  printf("a call lasts %.1f ns\n", (MPI_Wtime() - began) / often * 1e9);
}

static void* ask(void* unused) {
  int flag = 0;
  for (int i = 0; i < times; ++i)
    MPI_Iprobe(MPI_ANY_SOURCE, 9, WORLD, &flag, UNASKED); /* iprobe */
  return unused;
}

/* Two at the same time, and eight one after the other. */
static void threads(void) {
  pthread_t pair[2], one;
  MPI_Barrier(WORLD); /* the main thread counts, too */
  for (int i = 0; i < 2; ++i) pthread_create(&pair[i], NULL, ask, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(pair[i], NULL);
  for (int i = 0; i < 8; ++i) {
    pthread_create(&one, NULL, ask, NULL);
    pthread_join(one, NULL);
  }
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  if (strcmp(what, "crash") == 0) {
    MPI_Barrier(WORLD);
    if (rank == 1) _exit(3);
    MPI_Barrier(WORLD);
  } else if (strcmp(what, "late") == 0) {
    waiting();
  } else if (strcmp(what, "many") == 0) {
    many();
  } else if (strcmp(what, "calls") == 0) {
    calls();
  } else if (strcmp(what, "threads") == 0) {
    threads();
  } else {
    exchange();
    ring();
    together();
    one_sided();
    persistent();
  }
  MPI_Finalize();
  return 0;
}
