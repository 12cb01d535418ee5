/* One-sided communication: random operations of all kinds on windows of all flavours against a
 * model, locks, epochs, errors, many windows. Any rank count. `mpi_windows SEED` repeats a run. */
#include <dirent.h>
#include <time.h>

#include "check.h"

static int rank, size;
static unsigned long long state;

static unsigned below(unsigned n) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % n;
}

#define CELLS 64

enum flavour { created, allocated, shared, dynamic, flavours };

struct window {
  MPI_Win win;
  int* mine;          /* this rank's cells */
  MPI_Aint* address;  /* dynamic: of all ranks; else 0 */
};

static struct window make(enum flavour f) {
  struct window w;
  w.address = (MPI_Aint*)calloc((size_t)size, sizeof(MPI_Aint));
  if (f == created || f == dynamic) w.mine = (int*)malloc(sizeof(int) * CELLS);
  if (f == created) {
    MPI_Win_create(w.mine, sizeof(int) * CELLS, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &w.win);
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
      for (int i = 0; i < n; ++i) {
        if (way == 1 || way == 3 || (way >= 4 && i == 0)) CHECK(got[i] == old[i]);
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
    CHECK(before > last && before % one == 0);
    last = before;
  }
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  long wanted = 0;
  for (int i = 0; i < turns; ++i) {
    wanted += i % size == rank ? size * three : 0;
  }
  CHECK(mine[0] == wanted);
  CHECK(mine[1] == (rank == 0 ? size * turns * one : 0));
  MPI_Win_unlock_all(win);
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
  int *own, *other, unit;
  MPI_Aint bytes;
  MPI_Win_allocate_shared(sizeof(int) * (MPI_Aint)(rank + 1), sizeof(int), MPI_INFO_NULL,
                          MPI_COMM_WORLD, &own, &win);
  for (int i = 0; i <= rank; ++i) own[i] = 100 * rank + i;
  MPI_Win_fence(0, win);
  for (int r = 0; r < size; ++r) {
    MPI_Win_shared_query(win, r, &bytes, &unit, &other);
    CHECK(bytes == (MPI_Aint)sizeof(int) * (r + 1) && unit == sizeof(int));
    for (int i = 0; i <= r; ++i) CHECK(other[i] == 100 * r + i);
    if (r == rank) CHECK(other == own);
  }
  MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &other);
  CHECK(other[0] == 0); /* all lie side by side, from rank 0 on */
  for (int r = 0, i = 0; r < size; i += ++r) CHECK(other[i] == 100 * r);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
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
  EXPECT_ERROR(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC, "unlock");
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
  EXPECT_ERROR(MPI_Put(&x, 1, MPI_INT, 0, at(&w, dynamic, 0, CELLS), 1, MPI_INT, w.win),
               MPI_ERR_RMA_RANGE, "not attached");
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
    struct window w = make((enum flavour)(i % flavours));
    give_up(&w, (enum flavour)(i % flavours));
    if (i == 50) before = open_files();
  }
  CHECK(open_files() <= before);
}

int main(int argc, char** argv) {
  unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : (unsigned)time(NULL);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("repeat this run with: mpi_windows %u\n", seed), fflush(stdout);
  for (int f = 0; f < flavours; ++f) {
    state = seed + (unsigned)f;
    random_operations((enum flavour)f, 400);
    contention((enum flavour)f);
    ring((enum flavour)f);
  }
  counters();
  shared_memory();
  refusals();
  many();
  MPI_Finalize();
  return 0;
}
