// SPDX-License-Identifier: BSD-3-Clause
/* Threads of each rank (sinew simulate --threads-as-fibers).
 * well: they take numbers from a queue, which others fill with what they receive, sleep, and send
 *   on what they have taken; rank 0 prints the sum.
 * deadlock: the same, and then a thread of rank 0 receives what nobody sends. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { pairs = 3, rounds = 8, unused_tag = 77 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int queue[pairs * rounds], first, last, sum;
static int rank, size;

static void* fill(void* argument) {
  const int tag = *(int*)argument;
  for (int i = 0; i < rounds; ++i) {
    int number;
    MPI_Recv(&number, 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_mutex_lock(&lock);
    queue[last++] = number;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void* take(void* argument) {
  const int tag = *(int*)argument;
  const struct timespec moment = {0, 1000 * (tag + 1)};
  for (int i = 0; i < rounds; ++i) {
    const int number = rank * 100 + tag * 10 + i;
    MPI_Send(&number, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD);
    nanosleep(&moment, NULL);
    pthread_mutex_lock(&lock);
    while (first == last) {
      pthread_cond_wait(&filled, &lock);
    }
    sum += queue[first++];
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void* receive_in_vain(void* argument) {
  (void)argument;
  int number;
  MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, unused_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char** argv) {
  int provided, tags[pairs], all = 0;
  pthread_t threads[2 * pairs];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int t = 0; t < pairs; ++t) {
    tags[t] = t;
    pthread_create(&threads[2 * t], NULL, fill, &tags[t]);
    pthread_create(&threads[2 * t + 1], NULL, take, &tags[t]);
  }
  for (int t = 0; t < 2 * pairs; ++t) {
    pthread_join(threads[t], NULL);
  }
  MPI_Reduce(&sum, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("sum %d\n", all);
    fflush(stdout);
  }
  if (argc > 1 && strcmp(argv[1], "deadlock") == 0 && rank == 0) {
    pthread_create(&threads[0], NULL, receive_in_vain, NULL);
    pthread_join(threads[0], NULL);
  }
  MPI_Finalize();
  return 0;
}
