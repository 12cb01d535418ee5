// SPDX-License-Identifier: BSD-3-Clause
/* Ranks that wait for each other for ever, a way each. The test looks for the lines by the words
 * behind them. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, word;
static const MPI_Comm world = MPI_COMM_WORLD;

static void take(int source, int tag) {
  MPI_Recv(&word, 1, MPI_INT, source, tag, world, MPI_STATUS_IGNORE); /* line: take */
}

static void both_receive(void) { take(1 - rank, 7 + rank); }

static void both_send(void) {
  MPI_Ssend(&word, 1, MPI_INT, 1 - rank, 9, world); /* line: both_send */
}

static void both_send_much(void) {
  const int count = 4 << 20;
  char* const data = calloc(count, 1);
  MPI_Send(data, count, MPI_CHAR, 1 - rank, 11, world); /* line: both_send_much */
}

static void send_to_itself(void) {
  if (rank == 0) MPI_Ssend(&word, 1, MPI_INT, 0, 3, world); /* line: send_to_itself */
}

static void circle(void) { take((rank + 1) % size, 5); }

static void other_tag(void) {
  if (rank == 0) {
    MPI_Send(&word, 1, MPI_INT, 1, 9, world);
    take(1, 8);
  } else {
    take(0, 7);
  }
}

static void from_any(void) { take(MPI_ANY_SOURCE, MPI_ANY_TAG); }

static void wait_for_all(void) {
  MPI_Request both[2];
  MPI_Irecv(&word, 1, MPI_INT, 1 - rank, 2, world, &both[0]);
  MPI_Isend(&rank, 1, MPI_INT, 1 - rank, 4, world, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE); /* line: wait_for_all */
}

static void wait_for_one(void) {
  MPI_Request both[2];
  int words[2], which;
  MPI_Irecv(&words[0], 1, MPI_INT, 1 - rank, 2, world, &both[0]);
  MPI_Irecv(&words[1], 1, MPI_INT, 1 - rank, 4, world, &both[1]);
  MPI_Waitany(2, both, &which, MPI_STATUS_IGNORE); /* line: wait_for_one */
}

static void probe(void) {
  MPI_Probe(1 - rank, 6, world, MPI_STATUS_IGNORE); /* line: probe */
}

static void collectives(void) {
  if (rank == 0) {
    MPI_Bcast(&word, 1, MPI_INT, 1, world); /* line: broadcast */
  } else {
    int sum;
    MPI_Reduce(&word, &sum, 1, MPI_INT, MPI_SUM, 1, world); /* line: reduce */
  }
}

static void communicators(void) {
  MPI_Comm copy;
  MPI_Comm_dup(world, &copy);
  MPI_Comm_set_name(copy, "copy");
  MPI_Barrier(rank == 0 ? world : copy); /* line: communicators */
}

static void background(void) {
  MPI_Request r;
  if (rank == 0) {
    MPI_Ibarrier(world, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE); /* line: background */
  } else {
    take(0, 1);
  }
}

static void finalize(void) {
  if (rank == 0) take(1, 7);
}

static void window(const char* how) {
  int* memory;
  MPI_Win win;
  MPI_Group all, other;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, world, &memory, &win);
  MPI_Win_get_group(win, &all);
  const int them = 1 - rank;
  MPI_Group_incl(all, 1, &them, &other);
  if (strcmp(how, "lock") == 0) {
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(world);
    if (rank == 0) take(1, 7);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); /* line: lock */
    MPI_Win_flush(0, win);
  } else if (strcmp(how, "fence") == 0) {
    if (rank == 0) take(1, 7);
    MPI_Win_fence(0, win); /* line: fence */
  } else {
    MPI_Win_start(other, 0, win); /* line: start */
    MPI_Put(&word, 1, MPI_INT, them, 0, 1, MPI_INT, win);
    MPI_Win_complete(win); /* line: complete */
  }
}

static void between_groups(void) {
  MPI_Comm own, inter;
  MPI_Comm_split(world, rank, 0, &own);
  MPI_Intercomm_create(own, 0, world, 1 - rank, 0, &inter);
  if (rank == 0) {
    MPI_Recv(&word, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE); /* line: between_groups */
  } else {
    MPI_Barrier(inter); /* line: barrier_between */
  }
}

static void* receive_in_thread(void* unused) {
  int own;
  MPI_Recv(&own, 1, MPI_INT, 1 - rank, 21, world, MPI_STATUS_IGNORE);
  return unused;
}

/* Of a pool that has nothing to do. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static void* wait_for_work(void* unused) {
  pthread_mutex_lock(&lock);
  for (;;) pthread_cond_wait(&work, &lock);
  return unused;
}

static void pool(void) {
  pthread_t other;
  for (int i = 0; i < 3; ++i) pthread_create(&other, NULL, wait_for_work, NULL);
  take(1 - rank, 7);
}

static void threads(void) {
  pthread_t other;
  pthread_create(&other, NULL, receive_in_thread, NULL);
  take(1 - rank, 22);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } ways[] = {{"receive", both_receive},   {"send", both_send},
              {"send much", both_send_much}, {"itself", send_to_itself},
              {"circle", circle},          {"tag", other_tag},
              {"any", from_any},           {"all", wait_for_all},
              {"one", wait_for_one},       {"probe", probe},
              {"collectives", collectives}, {"communicators", communicators},
              {"background", background},  {"finalize", finalize},
              {"groups", between_groups},  {"threads", threads}, {"pool", pool}};
  const char* const wanted = argc > 1 ? argv[1] : "";
  int provided;
  MPI_Init_thread(&argc, &argv,
                  strcmp(wanted, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Barrier(world);
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
    if (strcmp(ways[i].name, wanted) == 0) ways[i].run();
  }
  if (strcmp(wanted, "lock") == 0 || strcmp(wanted, "fence") == 0 || strcmp(wanted, "start") == 0) {
    window(wanted);
  }
  MPI_Finalize(); /* line: finalize */
  return 0;
}
