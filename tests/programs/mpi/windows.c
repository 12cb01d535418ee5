// SPDX-License-Identifier: BSD-3-Clause
/* One-sided communication: random operations of all kinds on windows of all flavours against a
 * model, locks, epochs, errors, many windows. Any rank count, on one node or several.
 * `mpi_windows SEED` repeats a run. */
#include <dirent.h>
#include <time.h>

#include "check.h"

static int rank, size;
static MPI_Comm node; /* the ranks that share memory with this one */
static int one_node;
static unsigned long long state;

static unsigned below(unsigned n) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % n;
}

#define CELLS 64

enum flavour { created, allocated, shared, dynamic, flavours };
static int possible(int f) { return f != shared || one_node; }

struct window {
  MPI_Win win;
  int* mine;         /* this rank's cells */
  MPI_Aint* address; /* dynamic: of all ranks; else 0 */
};

static struct window make(enum flavour f) {
  struct window w;
  w.address = (MPI_Aint*)calloc((size_t)size, sizeof(MPI_Aint));
  if (f == created || f == dynamic) w.mine = (int*)malloc(sizeof(int) * CELLS);
  if (f == created) {
    MPI_Win_create(w.mine, sizeof(int) * CELLS, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
  } else if (f == allocated) {
    MPI_Win_allocate(sizeof(int) * CELLS, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w.mine,
                     &w.win);
  } else if (f == shared) {
    MPI_Win_allocate_shared(sizeof(int) * CELLS, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                            &w.mine, &w.win);
  } else {
    MPI_Aint own;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
    MPI_Win_attach(w.win, w.mine, sizeof(int) * CELLS);
    MPI_Get_address(w.mine, &own);
    MPI_Allgather(&own, 1, MPI_AINT, w.address, 1, MPI_AINT, MPI_COMM_WORLD);
  }
  return w;
}

static void give_up(struct window* w, enum flavour f) {
  if (f == dynamic) MPI_Win_detach(w->win, w->mine);
  MPI_Win_free(&w->win);
  CHECK(w->win == MPI_WIN_NULL);
  if (f == created || f == dynamic) free(w->mine);
  free(w->address);
}

static MPI_Aint at(const struct window* w, enum flavour f, int target, int cell) {
  return f == dynamic ? w->address[target] + cell * (MPI_Aint)sizeof(int) : cell;
}

/* In each round one rank works on all others, so that the model is exact; the types differ on the
 * two sides, and skip cells. */
static void random_operations(enum flavour f, int rounds) {
  struct window w = make(f);
  int* model = (int*)malloc(sizeof(int) * CELLS * (size_t)size);
  for (int i = 0; i < CELLS * size; ++i) model[i] = i;
  for (int i = 0; i < CELLS; ++i) w.mine[i] = model[rank * CELLS + i];
  MPI_Win_fence(0, w.win);
  for (int round = 0; round < rounds; ++round) {
    const int actor = (int)below((unsigned)size), target = (int)below((unsigned)size);
    const int n = 1 + (int)below(8), step = 1 + (int)below(3), way = (int)below(6);
    const int first = (int)below((unsigned)(CELLS - (n - 1) * step));
    const int passive = (int)below(2), seed = (int)below(1000);
    const int lock_type = below(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    int data[8], got[8], old[8];
    MPI_Datatype there;
    MPI_Type_vector(n, 1, step, MPI_INT, &there);
    MPI_Type_commit(&there);
    for (int i = 0; i < n; ++i) {
      data[i] = seed + i;
      got[i] = -1;
      old[i] = model[target * CELLS + first + i * step];
    }
    if (passive) MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    if (rank == actor) {
      const MPI_Aint disp = at(&w, f, target, first);
      if (passive) MPI_Win_lock(lock_type, target, 0, w.win);
      if (way == 0) {
        MPI_Put(data, n, MPI_INT, target, disp, 1, there, w.win);
      } else if (way == 1) {
        MPI_Get(got, n, MPI_INT, target, disp, 1, there, w.win);
      } else if (way == 2) {
        MPI_Accumulate(data, n, MPI_INT, target, disp, 1, there, MPI_SUM, w.win);
      } else if (way == 3) {
        MPI_Get_accumulate(data, n, MPI_INT, got, n, MPI_INT, target, disp, 1, there, MPI_MAX,
                           w.win);
      } else if (way == 4) {
        MPI_Fetch_and_op(data, got, MPI_INT, target, disp, MPI_REPLACE, w.win);
      } else {
        MPI_Compare_and_swap(data, old, got, MPI_INT, target, disp, w.win);
      }
      if (passive) {
        MPI_Win_flush(target, w.win);
        MPI_Win_unlock(target, w.win);
      }
    }
    for (int i = 0; i < n; ++i) {
      int* m = &model[target * CELLS + first + i * step];
      if (way == 0) *m = data[i];
      if (way == 2) *m += data[i];
      if (way == 3 && data[i] > *m) *m = data[i];
      if (way >= 4 && i == 0) *m = data[0];
    }
    MPI_Type_free(&there);
    MPI_Win_fence(0, w.win);
    for (int i = 0; rank == actor && i < n; ++i) {
      if (way == 1 || way == 3 || (way >= 4 && i == 0)) CHECK(got[i] == old[i]);
    }
    if (round % 16 == 15) {
      for (int i = 0; i < CELLS; ++i) CHECK(w.mine[i] == model[rank * CELLS + i]);
      MPI_Win_fence(0, w.win);
    }
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
  give_up(&w, f);
  free(model);
}

/* Counters of 8 bytes, which have a way of their own: all ranks add to those of all. */
static void counters(void) {
  enum { turns = 500 };
  long* mine = NULL;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  mine[0] = mine[1] = 0;
  MPI_Win_lock_all(0, win);
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  const long three = 3, one = 1L << 33;
  long last = -1;
  for (int i = 0; i < turns; ++i) {
    long before = -1;
    MPI_Accumulate(&three, 1, MPI_LONG, i % size, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 1, MPI_SUM, win);
    MPI_Win_flush_local(0, win);
    CHECK(before > last && before % one == 0);
    last = before;
  }
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  long wanted = 0;
  for (int i = 0; i < turns; ++i) wanted += i % size == rank ? size * three : 0;
  CHECK(mine[0] == wanted);
  CHECK(mine[1] == (rank == 0 ? size * turns * one : 0));
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* Many gets and fetches under way at once, ended in any order, by requests and by flushes. */
static void many_under_way(void) {
  enum { n = 100 };
  long *mine = NULL, got[3][n], two = 2;
  MPI_Request requests[2 * n];
  MPI_Win win;
  MPI_Win_allocate(2 * n * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  for (int i = 0; i < 2 * n; ++i) mine[i] = 1000L * rank + i;
  const int next = (rank + 1) % size;
  MPI_Win_lock_all(0, win);
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) {
    const long there = 1000L * next + n + i, wanted = there + 2;
    MPI_Rget(&got[0][i], 1, MPI_LONG, next, i, 1, MPI_LONG, win, &requests[2 * i]);
    MPI_Rget_accumulate(&two, 1, MPI_LONG, &got[1][i], 1, MPI_LONG, next, n + i, 1, MPI_LONG,
                        MPI_SUM, win, &requests[2 * i + 1]);
    MPI_Compare_and_swap(&there, &wanted, &got[2][i], MPI_LONG, next, n + i, win);
  }
  for (int ended = 0, which = -1, flag = 0; ended < 2 * n; ++ended) {
    const int last = 2 * n - 1 - ended;
    if (ended % 2 == 0) {
      MPI_Waitany(2 * n, requests, &which, MPI_STATUS_IGNORE);
    } else {
      for (which = last; requests[which] == MPI_REQUEST_NULL; which = (which + 1) % (2 * n)) {
      }
      do MPI_Test(&requests[which], &flag, MPI_STATUS_IGNORE);
      while (!flag);
    }
    const int i = which / 2;
    CHECK(requests[which] == MPI_REQUEST_NULL);
    CHECK(which % 2 != 0 || got[0][i] == 1000L * next + i);
    CHECK(which % 2 == 0 || got[1][i] == 1000L * next + n + i);
  }
  MPI_Win_flush_local(next, win);
  for (int i = 0; i < n; ++i) CHECK(got[2][i] == 1000L * next + n + i + 2);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

/* All at once: sums and a critical section. */
static void contention(enum flavour f) {
  struct window w = make(f);
  const int one = 1, turns = 500;
  for (int i = 0; i < CELLS; ++i) w.mine[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, w.win);
  for (int i = 0; i < turns; ++i) {
    int before;
    MPI_Accumulate(&one, 1, MPI_INT, i % size, at(&w, f, i % size, 0), 1, MPI_INT, MPI_SUM, w.win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, at(&w, f, 0, 1), MPI_SUM, w.win);
    MPI_Win_flush_local(0, w.win);
    CHECK(before >= 0 && before < size * turns);
  }
  MPI_Win_flush_all(w.win);
  MPI_Win_unlock_all(w.win);
  for (int i = 0; i < 50; ++i) { /* read, add, write: whole only under the lock */
    int now;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
    MPI_Get(&now, 1, MPI_INT, 0, at(&w, f, 0, 2), 1, MPI_INT, w.win);
    MPI_Win_flush(0, w.win);
    ++now;
    MPI_Put(&now, 1, MPI_INT, 0, at(&w, f, 0, 2), 1, MPI_INT, w.win);
    MPI_Win_unlock(0, w.win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win);
  int wanted = 0;
  for (int i = 0; i < turns; ++i) wanted += i % size == rank ? size : 0;
  CHECK(w.mine[0] == wanted);
  if (rank == 0) CHECK(w.mine[1] == size * turns && w.mine[2] == size * 50);
  MPI_Win_unlock(rank, w.win);
  MPI_Barrier(MPI_COMM_WORLD);
  give_up(&w, f);
}

/* MPI_Win_start, complete, post, wait round a ring. */
static void ring(enum flavour f) {
  struct window w = make(f);
  MPI_Group all, up, down;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Win_get_group(w.win, &all);
  MPI_Group_incl(all, 1, &next, &up);
  MPI_Group_incl(all, 1, &before, &down);
  for (int round = 0; round < 50; ++round) {
    const int word = 1000 * round + rank;
    int over = 0;
    w.mine[3] = -1;
    MPI_Win_post(down, 0, w.win);
    MPI_Win_start(up, 0, w.win);
    MPI_Put(&word, 1, MPI_INT, next, at(&w, f, next, 3), 1, MPI_INT, w.win);
    MPI_Win_complete(w.win);
    if (round % 2) {
      MPI_Win_wait(w.win);
    } else {
      while (!over) MPI_Win_test(w.win, &over);
    }
    CHECK(w.mine[3] == 1000 * round + before);
  }
  MPI_Group_free(&all), MPI_Group_free(&up), MPI_Group_free(&down);
  give_up(&w, f);
}

static void shared_memory(void) {
  MPI_Win win;
  int *own, *other, unit, me, here;
  MPI_Aint bytes;
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &here);
  MPI_Win_allocate_shared(sizeof(int) * (MPI_Aint)(me + 1), sizeof(int), MPI_INFO_NULL, node, &own,
                          &win);
  for (int i = 0; i <= me; ++i) own[i] = 100 * me + i;
  MPI_Win_fence(0, win);
  for (int r = 0; r < here; ++r) {
    MPI_Win_shared_query(win, r, &bytes, &unit, &other);
    CHECK(bytes == (MPI_Aint)sizeof(int) * (r + 1) && unit == sizeof(int));
    for (int i = 0; i <= r; ++i) CHECK(other[i] == 100 * r + i);
    if (r == me) CHECK(other == own);
  }
  MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &other);
  CHECK(other[0] == 0); /* all lie side by side, from rank 0 on */
  for (int r = 0, i = 0; r < here; i += ++r) CHECK(other[i] == 100 * r);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  if (one_node) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win),
               MPI_ERR_RMA_SHARED, "one node only");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  /* Of another window it is told what is mapped here: the memory of this node's ranks. */
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
  int mapped = 0;
  for (int r = 0; r < size; ++r) {
    MPI_Win_shared_query(win, r, &bytes, &unit, &other);
    CHECK((bytes == 64 && other != NULL) || (bytes == 0 && other == NULL));
    mapped += other != NULL;
  }
  CHECK(mapped == here);
  int* first; /* MPI_PROC_NULL: the first that has memory, if it is mapped here */
  MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
  MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &other);
  CHECK(first == other);
  MPI_Win_free(&win);
}

/* Longer than any message of the network, with holes on both sides. */
static void long_ones(void) {
  enum { n = 20000 };
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  long *mine, *there = malloc(n * sizeof *there), *got = malloc(2 * n * sizeof *got);
  MPI_Datatype half, blocks;
  MPI_Win win;
  MPI_Request request;
  MPI_Type_vector(n / 2, 1, 2, MPI_LONG, &half);
  MPI_Type_vector(n / 200, 100, 200, MPI_LONG, &blocks);
  MPI_Type_commit(&half), MPI_Type_commit(&blocks);
  MPI_Win_allocate(n * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  for (int i = 0; i < n; ++i) mine[i] = 0, there[i] = 1000L * rank + i;
  MPI_Win_fence(0, win);
  MPI_Put(there, n, MPI_LONG, next, 0, n, MPI_LONG, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < n; ++i) CHECK(mine[i] == 1000L * before + i);
  MPI_Win_fence(0, win);
  MPI_Accumulate(there, 1, half, next, 1, 1, blocks, MPI_SUM, win); /* two layouts */
  MPI_Accumulate(there, n, MPI_LONG, next, 0, n, MPI_LONG, MPI_MAX, win);
  MPI_Win_fence(0, win);
  for (int i = 0, k = 0; i < n; ++i) { /* cells 1 to 100, 201 to 300, ... */
    const int added = i % 200 >= 1 && i % 200 <= 100;
    CHECK(mine[i] == 1000L * before + i + (added ? 1000L * before + 2L * k : 0));
    k += added;
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 2 * n; ++i) got[i] = -1;
  MPI_Rget(got, 1, half, next, 0, 1, blocks, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; i += 2) {
    const long cell = i / 2 / 100 * 200 + i / 2 % 100, k = i / 2 - 1;
    CHECK(got[i] == 1000L * rank + cell + (cell % 200 != 0 ? 1000L * rank + 2 * k : 0));
    CHECK(got[i + 1] == -1);
  }
  MPI_Rget_accumulate(NULL, 0, MPI_LONG, got, n, MPI_LONG, next, 0, n, MPI_LONG, MPI_NO_OP, win,
                      &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; i += 200) CHECK(got[i] == 1000L * rank + i);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Rput(there, n, MPI_LONG, next, 0, n, MPI_LONG, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush_local(next, win);
  for (int i = 0; i < n; ++i) there[i] = 7;
  MPI_Raccumulate(there, n, MPI_LONG, next, 0, n, MPI_LONG, MPI_SUM, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) there[i] = 0;
  MPI_Win_flush(next, win);
  MPI_Get(got, n, MPI_LONG, next, 0, n, MPI_LONG, win);
  MPI_Win_flush_local_all(win);
  for (int i = 0; i < n; ++i) CHECK(got[i] == 1000L * rank + i + 7);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Type_free(&half), MPI_Type_free(&blocks);
  free(there), free(got);
}

/* Elements of 16 bytes: those with the greatest value stay. */
static void pairs_of_numbers(void) {
  enum { n = 20000 };
  struct pair {
    double value;
    int place;
  };
  const int next = (rank + 1) % size;
  struct pair *mine, old, *pairs = calloc(n, sizeof *pairs);
  MPI_Win win;
  MPI_Win_allocate(n * sizeof *pairs, sizeof *pairs, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                   &win);
  for (int i = 0; i < n; ++i) {
    mine[i].value = -1, mine[i].place = -1;
    pairs[i].value = (rank + i) % size, pairs[i].place = rank;
  }
  MPI_Win_fence(0, win);
  for (int r = 0; r < size; ++r) {
    MPI_Accumulate(pairs, n, MPI_DOUBLE_INT, r, 0, n, MPI_DOUBLE_INT, MPI_MAXLOC, win);
  }
  MPI_Win_fence(0, win);
  for (int i = 0; i < n; ++i) {
    CHECK(mine[i].value == size - 1 && (mine[i].place + i) % size == size - 1);
  }
  MPI_Win_fence(0, win);
  MPI_Fetch_and_op(&pairs[0], &old, MPI_DOUBLE_INT, next, 3, MPI_NO_OP, win);
  MPI_Win_fence(0, win);
  CHECK(old.value == size - 1 && (old.place + 3) % size == size - 1);
  MPI_Win_free(&win);
  free(pairs);
}

static int handled = 0;
static void on_error(MPI_Win* win, int* code, ...) {
  CHECK(*win != MPI_WIN_NULL && *code != MPI_SUCCESS);
  ++handled;
}

static void refusals(void) {
  struct window w = make(allocated);
  MPI_Errhandler handler;
  int x = 0, flag = 0;
  double y = 0;
  MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, w.win), MPI_ERR_RMA_SYNC, "no epoch");
  EXPECT_ERROR(MPI_Win_unlock(0, w.win), MPI_ERR_RMA_SYNC, "not locked");
  EXPECT_ERROR(MPI_Win_complete(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_start");
  EXPECT_ERROR(MPI_Win_wait(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_post");
  EXPECT_ERROR(MPI_Win_test(w.win, &flag), MPI_ERR_RMA_SYNC, "MPI_Win_post");
  EXPECT_ERROR(MPI_Win_lock(12345, 0, 0, w.win), MPI_ERR_LOCKTYPE, "neither");
  EXPECT_ERROR(MPI_Win_fence(1 << 20, w.win), MPI_ERR_ASSERT, "none");
  EXPECT_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, w.win), MPI_ERR_RANK, "target rank");
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
  EXPECT_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), MPI_ERR_RMA_SYNC, "already");
  EXPECT_ERROR(MPI_Put(&x, 1, MPI_INT, 0, CELLS, 1, MPI_INT, w.win), MPI_ERR_RMA_RANGE,
               "not in the");
  EXPECT_ERROR(MPI_Put(&x, 1, MPI_INT, 0, -1, 1, MPI_INT, w.win), MPI_ERR_DISP, "negative");
  EXPECT_ERROR(MPI_Accumulate(&y, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, w.win), MPI_ERR_OP,
               "not defined");
  EXPECT_ERROR(MPI_Put(&x, -1, MPI_INT, 0, 0, 1, MPI_INT, w.win), MPI_ERR_COUNT, "negative");
  EXPECT_ERROR(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC, "MPI_Win_unlock is");
  CHECK(MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w.win) == MPI_SUCCESS);
  MPI_Win_unlock(0, w.win);
  EXPECT_ERROR(MPI_Win_attach(w.win, &x, 4), MPI_ERR_RMA_FLAVOR, "dynamic");
  MPI_Win_create_errhandler(on_error, &handler);
  MPI_Win_set_errhandler(w.win, handler);
  MPI_Errhandler_free(&handler);
  MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, w.win);
  CHECK(handled == 1);
  MPI_Barrier(MPI_COMM_WORLD);
  give_up(&w, allocated);
  w = make(dynamic);
  MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, w.win);
  EXPECT_ERROR(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC, "MPI_Win_unlock_all is");
  for (int r = 0; r < size; ++r) {
    EXPECT_ERROR(MPI_Get(&x, 1, MPI_INT, r, at(&w, dynamic, r, CELLS), 1, MPI_INT, w.win),
                 MPI_ERR_RMA_RANGE, "not attached");
    EXPECT_ERROR(MPI_Fetch_and_op(&x, &flag, MPI_INT, r, at(&w, dynamic, r, -1), MPI_SUM, w.win),
                 MPI_ERR_RMA_RANGE, "not attached");
  }
  EXPECT_ERROR(MPI_Put(&x, 1, MPI_INT, 0, at(&w, dynamic, 0, CELLS), 1, MPI_INT, w.win),
               MPI_ERR_RMA_RANGE, "not attached");
  EXPECT_ERROR(MPI_Compare_and_swap(&y, &y, &y, MPI_FLOAT, 0, at(&w, dynamic, 0, 0), w.win),
               MPI_ERR_TYPE, "no integer");
  MPI_Win_unlock_all(w.win);
  EXPECT_ERROR(MPI_Win_detach(w.win, &x), MPI_ERR_RMA_ATTACH, "no memory");
  MPI_Barrier(MPI_COMM_WORLD);
  give_up(&w, dynamic);
}

static int open_files(void) {
  int n = 0;
  DIR* d = opendir("/proc/self/fd");
  while (d != NULL && readdir(d) != NULL) ++n;
  if (d != NULL) closedir(d);
  return n;
}

/* Windows leave nothing behind. */
static void many(void) {
  int before = 0;
  for (int i = 0; i < 500; ++i) {
    if (!possible(i % flavours)) continue;
    struct window w = make((enum flavour)(i % flavours));
    give_up(&w, (enum flavour)(i % flavours));
    if (i == 51) before = open_files();
  }
  CHECK(open_files() <= before);
}

/* Very many pieces, and operations on neighbours. */
static void many_pieces(void) {
  enum { pieces = 300, words = 16 };
  static int memory[pieces * words];
  const int next = (rank + 1) % size;
  MPI_Win win;
  MPI_Aint own, theirs;
  int two[2 * words], got[2 * words];
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < pieces; ++i) {
      CHECK(MPI_Win_attach(win, memory + i * words, sizeof(int) * words) == MPI_SUCCESS);
    }
    MPI_Get_address(memory, &own);
    MPI_Sendrecv(&own, 1, MPI_AINT, (rank + size - 1) % size, 7, &theirs, 1, MPI_AINT, next, 7,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i + 1 < pieces; i += 60) {
      for (int k = 0; k < 2 * words; ++k) {
        two[k] = 1000 * rank + 10 * i + k;
      }
      const MPI_Aint there = MPI_Aint_add(theirs, (MPI_Aint)sizeof(int) * i * words);
      CHECK(MPI_Put(two, 2 * words, MPI_INT, next, there, 2 * words, MPI_INT, win) == MPI_SUCCESS);
      CHECK(MPI_Win_flush(next, win) == MPI_SUCCESS);
      CHECK(MPI_Get(got, 2 * words, MPI_INT, next, there, 2 * words, MPI_INT, win) == MPI_SUCCESS);
      CHECK(MPI_Win_flush(next, win) == MPI_SUCCESS && memcmp(two, got, sizeof two) == 0);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = pieces - 1; i >= 0; --i) {
      CHECK(MPI_Win_detach(win, memory + i * words) == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : (unsigned)time(NULL);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &one_node);
  one_node = one_node == size;
  if (rank == 0) printf("repeat this run with: mpi_windows %u\n", seed), fflush(stdout);
  for (int f = 0; f < flavours; ++f) {
    if (!possible(f)) continue;
    state = seed + (unsigned)f;
    random_operations((enum flavour)f, 400);
    contention((enum flavour)f);
    ring((enum flavour)f);
  }
  counters();
  many_under_way();
  long_ones();
  pairs_of_numbers();
  shared_memory();
  refusals();
  many_pieces();
  many();
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
