// SPDX-License-Identifier: BSD-3-Clause
// Windows. Rank 0 works on rank 1's memory, which takes no part: each call and its MPI_Win_flush,
// in an epoch of MPI_Win_lock_all; then pairs of MPI_Win_lock and unlock. With case=fence all ranks
// meet in MPI_Win_fence.
#include "../common/together.h"

enum { window_bytes = 65536 };

typedef struct {
  MPI_Win window;
  long* from;
  long* into;
  int count;  // of MPI_LONG
} reach;

static void put(const reach* a) {
  MPI_Put(a->from, a->count, MPI_LONG, 1, 0, a->count, MPI_LONG, a->window);
  MPI_Win_flush(1, a->window);
}
static void get(const reach* a) {
  MPI_Get(a->into, a->count, MPI_LONG, 1, 0, a->count, MPI_LONG, a->window);
  MPI_Win_flush(1, a->window);
}
static void fetch_and_op(const reach* a) {
  MPI_Fetch_and_op(a->from, a->into, MPI_LONG, 1, 0, MPI_SUM, a->window);
  MPI_Win_flush(1, a->window);
}
static void compare_and_swap(const reach* a) {
  MPI_Compare_and_swap(a->from, a->from + 1, a->into, MPI_LONG, 1, 0, a->window);
  MPI_Win_flush(1, a->window);
}
static void accumulate(const reach* a) {
  MPI_Accumulate(a->from, a->count, MPI_LONG, 1, 0, a->count, MPI_LONG, MPI_SUM, a->window);
  MPI_Win_flush(1, a->window);
}
static void lock_and_unlock(const reach* a) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, a->window);
  MPI_Win_unlock(1, a->window);
}

static const struct {
  const char* name;
  void (*run)(const reach*);
  int bytes;
} kinds[] = {{"put", put, 8},
             {"get", get, 8},
             {"fetch-and-op", fetch_and_op, 8},
             {"compare-and-swap", compare_and_swap, 8},
             {"accumulate", accumulate, 8},
             {"accumulate", accumulate, window_bytes},
             {"lock-unlock", lock_and_unlock, 0}};

static double repeat(void (*run)(const reach*), const reach* a, int times) {
  const double begin = now_ns();
  for (int i = 0; i < times; ++i) run(a);
  return (now_ns() - begin) / times;
}

// Rank 1 waits for the end of each sample inside MPI, as a target's program may.
static void measure(int rank, const char* name, void (*run)(const reach*), const reach* a,
                    double budget_ms) {
  plan p = {0, 0};
  double ns[most_batches];
  char params[64];
  snprintf(params, sizeof params, "ranks=2,bytes=%d", 8 * a->count);
  if (rank == 0) {
    repeat(run, a, 3);
    p = make_plan(repeat(run, a, 10), budget_ms);
  }
  MPI_Bcast(&p, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const int samples = samples_of(&p), batches = p.batches / samples;
  for (int s = 0; s < samples; ++s) {
    const double line = line_trip(rank);
    if (rank == 0) {
      for (int b = 0; b < batches; ++b) ns[b] = repeat(run, a, p.repetitions);
      report_sample(name, "latency", "us", params, median(ns, batches) / 1e3, line);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void passive(int rank, reach* a, double budget_ms) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    const int locks = kinds[k].run == lock_and_unlock;
    a->count = kinds[k].bytes / 8;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!locks) MPI_Win_lock_all(0, a->window);
    measure(rank, kinds[k].name, kinds[k].run, a, budget_ms);
    if (!locks) MPI_Win_unlock_all(a->window);
  }
}

static void fence(const void* on) { MPI_Win_fence(0, ((const reach*)on)->window); }

static void tell_fence(const void* on, double ns, double line_ns) {
  int ranks;
  char params[64];
  (void)on;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(params, sizeof params, "ranks=%d,bytes=0", ranks);
  report_sample("fence", "latency", "us", params, ns / 1e3, line_ns);
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  const int rank = start(&argc, &argv, &o, 2);
  line_open(rank);
  reach a;
  void* memory = NULL;
  // Zeros, whose sums stay what they are; a comparison succeeds each time.
  a.from = (long*)make_buffer(window_bytes, 0);
  a.into = (long*)make_buffer(window_bytes, 0);
  MPI_Win_allocate(window_bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &a.window);
  MPI_Win_fence(0, a.window);
  memset(memory, 0, window_bytes);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, a.window);
  if (strcmp(o.only, "fence") == 0) {
    const together_call call = {fence, &a};
    together_measure(&call, o.budget_ms, tell_fence);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, a.window);
  } else {
    passive(rank, &a, o.budget_ms);
  }
  MPI_Win_free(&a.window);
  MPI_Finalize();
  return 0;
}
