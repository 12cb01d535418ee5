// SPDX-License-Identifier: BSD-3-Clause
/* With a helper thread (SINEW_CORE_PROGRESS=thread): a rank that computes takes part in long
 * messages, and the program's own functions run in its own thread all the same. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { length = 1 << 20, computing_ms = 700 };

static int rank, size;
static pthread_t own;
static int calls;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t); /* the machine's, of all ranks */
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile double sink;
static void compute(int ms) {
  const double end = now() + 1e-3 * ms;
  while (now() < end) {
    for (int i = 0; i < 10000; ++i) {
      sink += i;
    }
  }
}

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  CHECK(pthread_equal(pthread_self(), own));
  ++calls;
  for (int i = 0; i < *n; ++i) {
    ((int*)inout)[i] += ((int*)in)[i];
  }
}

static void long_message_to_a_rank_that_computes(int helped) {
  int* const data = malloc(length * sizeof *data);
  double ended = 0;
  CHECK(data != NULL);
  if (rank == 0) {
    for (int i = 0; i < length; ++i) {
      data[i] = i;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ssend(data, length, MPI_INT, 1, 5, MPI_COMM_WORLD);
    ended = now();
  } else if (rank == 1) {
    MPI_Request r;
    MPI_Irecv(data, length, MPI_INT, 0, 5, MPI_COMM_WORLD, &r);
    MPI_Barrier(MPI_COMM_WORLD);
    compute(computing_ms);
    ended = now();
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < length; ++i) {
      CHECK(data[i] == i);
    }
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  double* const all = malloc((size_t)size * sizeof *all);
  MPI_Allgather(&ended, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("the message ended %.0f ms before the computation\n", 1e3 * (all[1] - all[0]));
  }
  CHECK(!helped || all[0] < all[1]);
  free(all);
  free(data);
}

static void functions_of_the_program(void) {
  MPI_Op op;
  int mine = rank + 1, sum = 0;
  MPI_Request r;
  MPI_Op_create(add, 1, &op);
  for (int round = 0; round < 3; ++round) {
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &r);
    compute(rank % 2 == 0 ? 30 : 60);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(sum == size * (size + 1) / 2);
  }
  MPI_Op_free(&op);
}

static void a_loop_of_tests(void) {
  int word = rank, got = -1, flag = 0;
  MPI_Request r;
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (int round = 0; round < 3; ++round) {
    MPI_Irecv(&got, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &r);
    compute(10);
    MPI_Send(&word, 1, MPI_INT, right, 6, MPI_COMM_WORLD);
    for (flag = 0; !flag;) {
      MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    }
    CHECK(got == left);
  }
}

int main(int argc, char** argv) {
  const char* const how = getenv("SINEW_CORE_PROGRESS");
  int level = -1;
  own = pthread_self();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Query_thread(&level);
  CHECK(level == MPI_THREAD_SINGLE);
  if (size >= 2) {
    long_message_to_a_rank_that_computes(how != NULL && strcmp(how, "thread") == 0);
  }
  functions_of_the_program();
  MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(size == 1 || calls > 0);
  a_loop_of_tests();
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    exit(0); /* the child has no helper to wait for */
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
