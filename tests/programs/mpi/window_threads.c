// SPDX-License-Identifier: BSD-3-Clause
/* MPI_THREAD_MULTIPLE on one window: several threads of each rank put, get and accumulate at once,
 * in one epoch of MPI_Win_lock_all. Each has cells of its own at every rank, with a model of these,
 * and all add to one counter. At most 16 ranks, on one node or several. `mpi_window_threads SEED`
 * repeats a run. */
#include <pthread.h>

#include "check.h"

enum { threads = 3, cells = 32, turns = 150, most_ranks = 16 };

static int rank, size;
static MPI_Win win;

struct worker {
  int number;
  unsigned long long state;
  pthread_t thread;
  long model[most_ranks][cells];
};

static unsigned below(struct worker* w, unsigned n) {
  w->state = w->state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(w->state >> 33) % n;
}

/* Where the cells of this thread begin; the counter is cell 0 of all. */
static MPI_Aint cells_of(const struct worker* w) {
  return 1 + ((MPI_Aint)rank * threads + w->number) * cells;
}

static void* work(void* of) {
  struct worker* w = (struct worker*)of;
  const long one = 1;
  for (int turn = 0; turn < turns; ++turn) {
    const int target = (int)below(w, (unsigned)size), way = (int)below(w, 5);
    const int first = (int)below(w, cells), n = 1 + (int)below(w, (unsigned)(cells - first));
    const MPI_Aint disp = cells_of(w) + first;
    long data[cells], got[cells];
    for (int i = 0; i < n; ++i) data[i] = turn + i;
    if (way == 0) {
      MPI_Put(data, n, MPI_LONG, target, disp, n, MPI_LONG, win);
    } else if (way == 1) {
      MPI_Accumulate(data, n, MPI_LONG, target, disp, n, MPI_LONG, MPI_SUM, win);
    } else if (way == 2) {
      MPI_Get_accumulate(data, n, MPI_LONG, got, n, MPI_LONG, target, disp, n, MPI_LONG,
                         MPI_REPLACE, win);
    } else {
      MPI_Get(got, n, MPI_LONG, target, disp, n, MPI_LONG, win);
    }
    MPI_Win_flush(target, win);
    for (int i = 0; i < n; ++i) {
      long* m = &w->model[target][first + i];
      if (way >= 2) CHECK(got[i] == *m);
      if (way == 0 || way == 2) *m = data[i];
      if (way == 1) *m += data[i];
    }
    MPI_Accumulate(&one, 1, MPI_LONG, turn % size, 0, 1, MPI_LONG, MPI_SUM, win);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  long *mine = NULL, sum = 0, all = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size <= most_ranks);
  const unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 5;
  if (rank == 0) printf("seed %llu\n", seed);
  const MPI_Aint count = 1 + (MPI_Aint)size * threads * cells;
  MPI_Win_allocate(count * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &mine, &win);
  memset(mine, 0, (size_t)count * sizeof(long));
  MPI_Win_lock_all(0, win);
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  struct worker* w = (struct worker*)calloc(threads, sizeof *w);
  for (int t = 0; t < threads; ++t) {
    w[t].number = t;
    w[t].state = seed * 1000 + (unsigned long long)(rank * threads + t);
    CHECK(pthread_create(&w[t].thread, NULL, work, &w[t]) == 0);
  }
  for (int t = 0; t < threads; ++t) pthread_join(w[t].thread, NULL);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  MPI_Fetch_and_op(NULL, &sum, MPI_LONG, rank, 0, MPI_NO_OP, win);
  MPI_Win_flush(rank, win);
  MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == (long)size * threads * turns);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  free(w);
  MPI_Finalize();
  return 0;
}
