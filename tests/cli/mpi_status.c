// SPDX-License-Identifier: BSD-3-Clause
/* Ranks that stand in several places, each in a function of its own. The test looks for the lines
 * by the words behind them. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int never = 0;

static void gather_all(void) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* line: gather_all */
}

__attribute__((noinline)) static void lag_behind(void) {
  int word = 0;
  MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line: lag_behind */
  word = never;
}

__attribute__((noinline)) static void compute(void) {
  while (never == 0) { /* line: compute */
  }
}

/* Within a call of MPI, which has called back. */
static void slow_operator(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in, (void)inout, (void)count, (void)type;
  while (never == 0) {
    usleep(1000);
  }
}

__attribute__((noinline)) static void call_back(int rank) {
  MPI_Op op;
  int word = rank, result = 0;
  MPI_Op_create(slow_operator, 1, &op);
  MPI_Reduce_local(&word, &result, 1, MPI_INT, op); /* line: call_back */
  result = never;
}

__attribute__((noinline)) static int go_deep(volatile int* depth) {
  volatile int room[1024];
  room[0] = *depth + 1;
  return *depth < 0 ? 0 : go_deep(room) + room[0]; /* line: go_deep */
}

__attribute__((noinline)) static void write_far(volatile double* p) {
  *p = 1; /* line: write_far */
}

static void crash(const char* how) {
  volatile int depth = 0;
  if (strcmp(how, "crash") == 0) {
    write_far((volatile double*)8);
  } else if (strcmp(how, "crash, deep") == 0) {
    go_deep(&depth);
  } else if (strcmp(how, "crash, in MPI") == 0) {
    MPI_Recv((void*)8, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line: crash */
  }
}

/* Of which nobody knows what it will do: then it is not certain that ranks wait for ever. */
static void* idle(void* unused) {
  pause();
  return unused;
}

int main(int argc, char** argv) {
  int rank = 0;
  const char* const mode = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(mode, "thread") == 0) {
    pthread_t other;
    pthread_create(&other, NULL, idle, NULL);
  }
  printf("ready\n");
  fflush(stdout);
  if (rank == 0 && strcmp(mode, "crash, in MPI") == 0) {
    MPI_Send(&rank, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
  }
  if (rank == 1 && strncmp(mode, "crash", 5) == 0) {
    crash(mode);
  } else if (rank == 1 && strcmp(mode, "compute") == 0) {
    compute();
  } else if (rank == 1 && strcmp(mode, "sleep") == 0) {
    sleep(1000);
  } else if (rank == 1 && strcmp(mode, "call back") == 0) {
    call_back(rank);
  } else if (rank == 1) {
    lag_behind();
  }
  gather_all();
  MPI_Finalize();
  return 0;
}
