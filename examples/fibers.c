// SPDX-License-Identifier: BSD-3-Clause
/* A ring of fibers over the ranks of a job: each rank has a thousand of them, and each sends to its
 * namesake in the next rank and receives from the one before, in the blocking calls that one would
 * use with one thread. A mutex and a condition keep the rank's own account.
 *
 *   mpicc.sinew fibers.c -o fibers_c -lsinew
 *   sinew run -n 2 ./fibers_c
 */
#include <mpi.h>
#include <sinew.h>
#include <stdio.h>
#include <stdlib.h>

enum { fibers = 1000, rounds = 10 };

static int rank, size;

static sinew_mutex mutex = SINEW_MUTEX_INITIALIZER;
static sinew_condition changed = SINEW_CONDITION_INITIALIZER;
static sinew_barrier start;
static long sum;
static int done;

static void fail(const char* what) {
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, sinew_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void messenger(void* argument) {
  const int me = (int)(size_t)argument;
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  sinew_barrier_wait(&start); /* all of this rank's are there */

  long token = me;
  for (int i = 0; i < rounds; ++i) {
    long arrived = -1;
    MPI_Request sent;
    /* The fiber's number as tag: messages of different fibers do not mix. */
    MPI_Isend(&token, 1, MPI_LONG, next, me, MPI_COMM_WORLD, &sent);
    MPI_Recv(&arrived, 1, MPI_LONG, before, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    token = arrived + 1;
  }

  sinew_mutex_lock(&mutex);
  sum += token;
  ++done;
  sinew_condition_signal(&changed);
  sinew_mutex_unlock(&mutex);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* The caller becomes a fiber, too; SINEW_FIBER_WORKERS or the cores say how many workers. */
  if (sinew_start(NULL) != SINEW_OK) fail("sinew_start");
  if (sinew_barrier_init(&start, fibers) != SINEW_OK) fail("sinew_barrier_init");

  const struct sinew_fiber_options how = {.name = "messenger", .detached = 1};
  for (size_t i = 0; i < fibers; ++i)
    if (sinew_fiber_create(NULL, messenger, (void*)i, &how) != SINEW_OK) fail("create");

  sinew_mutex_lock(&mutex);
  while (done < fibers) sinew_condition_wait(&changed, &mutex);
  sinew_mutex_unlock(&mutex);

  const long expected = (long)fibers * (fibers - 1) / 2 + (long)fibers * rounds;
  printf("rank %d of %d: %d fibers on %d workers exchanged %d messages; the tokens add up to %ld "
         "(%s)\n",
         rank, size, fibers, sinew_workers(), fibers * rounds, sum,
         sum == expected ? "right" : "WRONG");
  sinew_stop();
  MPI_Finalize();
  return sum == expected ? 0 : 1;
}
