// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives over all ranks. `latency`: the call and its MPI_Wait, back to back.
// `overlap`: how much of that is hidden behind a computation of equal length between the two, in
// which MPI is not called; for at most as many ranks as processors (word overlap=1). With
// progress=thread each MPI is asked for its own thread that makes progress, all ranks compute on
// one processor, and those threads are on another.
#define _GNU_SOURCE  // sched_setaffinity
#include <dirent.h>

#include "../common/together.h"

enum { slack = 64, overlap_batches = 5 };

typedef struct call {
  const char* name;
  void (*begin)(const struct call* c, MPI_Request* r);
  char* from;
  char* into;
  int bytes;
  int ranks;
  long steps;   // of computation between the call and the wait
  int threads;  // that make progress have been asked for
} call;

static void begin_iallreduce(const call* c, MPI_Request* r) {
  MPI_Iallreduce(c->from, c->into, c->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, r);
}
static void begin_ibcast(const call* c, MPI_Request* r) {
  MPI_Ibcast(c->from, c->bytes, MPI_BYTE, 0, MPI_COMM_WORLD, r);
}
static void begin_ibarrier(const call* c, MPI_Request* r) {
  (void)c;
  MPI_Ibarrier(MPI_COMM_WORLD, r);
}
static void begin_ialltoall(const call* c, MPI_Request* r) {
  MPI_Ialltoall(c->from, c->bytes, MPI_BYTE, c->into, c->bytes, MPI_BYTE, MPI_COMM_WORLD, r);
}

static const call kinds[] = {{.name = "iallreduce", .begin = begin_iallreduce},
                             {.name = "ibcast", .begin = begin_ibcast},
                             {.name = "ibarrier", .begin = begin_ibarrier},
                             {.name = "ialltoall", .begin = begin_ialltoall}};

volatile double computed;  // so that it has to be

// Each step waits for the one before, so that their number is the time.
static void compute(long steps) {
  double x = 1;
  for (long i = 0; i < steps; ++i) x = x * 0.999999 + 1e-6;
  computed = x;
}

static void run(const void* on) {
  const call* const c = on;
  MPI_Request r;
  c->begin(c, &r);
  if (c->steps != 0) compute(c->steps);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void run_computation(const void* on) { compute(((const call*)on)->steps); }

static void tell_latency(const void* on, double ns, double line_ns) {
  const call* const c = on;
  char params[64];
  snprintf(params, sizeof params, "ranks=%d,bytes=%d", c->ranks, c->bytes);
  report_sample(c->name, "latency", "us", params, ns / 1e3, line_ns);
}

static void tell_overlap(const call* c, double percent, double line_ns) {
  char params[64];
  snprintf(params, sizeof params, "ranks=%d,bytes=%d,progress=%s", c->ranks, c->bytes,
           c->threads ? "thread" : "waiters");
  report_sample(c->name, "overlap", "percent", params, percent, line_ns);
}

static double median_batch(const together_call* c, int repetitions) {
  double ns[overlap_batches];
  for (int b = 0; b < overlap_batches; ++b) ns[b] = together_batch(c, repetitions);
  return median(ns, overlap_batches);
}

// The call alone, the computation alone, both at once: what both at once take less than one after
// the other, as a share of the shorter one. Each sample has all three, since the machine changes.
static void measure_overlap(const call* alone, double budget_ms) {
  call with = *alone;
  const together_call bare = {run, alone}, both = {run, &with}, computed = {run_computation, &with};
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const plan p = together_plan(&bare, budget_ms / 3);
  const int repetitions = p.repetitions * p.batches / together_samples / overlap_batches + 1;
  with.steps = 10000;
  const double ns_a_step = median_batch(&computed, 5) / (double)with.steps;
  for (int s = 0; s < together_samples; ++s) {
    // With threads the ranks share a processor, and no line goes from one to the other.
    const double line = alone->ranks == 2 && !alone->threads ? line_trip(rank) : 0;
    const double call_ns = median_batch(&bare, repetitions);
    with.steps = (long)(call_ns / ns_a_step) + 1;
    const double computing_ns = median_batch(&computed, repetitions);
    const double both_ns = median_batch(&both, repetitions);
    const double shorter = call_ns < computing_ns ? call_ns : computing_ns;
    double hidden = 100 * (call_ns + computing_ns - both_ns) / shorter;
    if (hidden < 0) hidden = 0;
    if (hidden > 100) hidden = 100;
    if (rank == 0) tell_overlap(alone, hidden, line);
  }
}

// Before MPI_Init: the settings of those that have such threads. (Open MPI has none.)
static void ask_for_threads(void) {
  setenv("SINEW_CORE_PROGRESS", "thread", 1);
  setenv("MPIR_CVAR_ASYNC_PROGRESS", "1", 1);
}

// This thread goes to the first of the job's processors, the process' others to the second.
static void place_threads(const cpu_set_t* allowed) {
  int cpus[2], found = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; ++cpu) {
    if (CPU_ISSET(cpu, allowed)) cpus[found++] = cpu;
  }
  if (found < 2) stop_all("progress=thread needs two processors");
  DIR* const tasks = opendir("/proc/self/task");
  for (struct dirent* e; tasks != NULL && (e = readdir(tasks)) != NULL;) {
    const int id = atoi(e->d_name);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus[id == (int)getpid() ? 0 : 1], &one);
    if (id > 0) sched_setaffinity(id, sizeof one, &one);
  }
  if (tasks != NULL) closedir(tasks);
}

// A launcher may have bound each rank to a processor of its own: all are taken.
static void allow_all(cpu_set_t* allowed) {
  CPU_ZERO(allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, allowed);
  sched_setaffinity(0, sizeof *allowed, allowed);  // the system takes those away that are not ours
  sched_getaffinity(0, sizeof *allowed, allowed);
}

int main(int argc, char** argv) {
  int overlap = 0, threads = 0, ranks;
  cpu_set_t allowed;
  const options o = read_options(argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "overlap=1") == 0) overlap = 1;
    if (strcmp(argv[i], "progress=thread") == 0) threads = 1;
  }
  if (threads) {
    ask_for_threads();
    allow_all(&allowed);
  }
  line_open(start(&argc, &argv, &o, 2));
  if (threads) place_threads(&allowed);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int longest = largest_size(&o, 8);
  // Zeros: adding them up for ever gives no infinities, whose sums take longer on some processors.
  char* const from = make_buffer((size_t)longest * (size_t)ranks + slack, 0);
  char* const into = make_buffer((size_t)longest * (size_t)ranks + slack, 0);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    if (*o.only && strcmp(o.only, kinds[k].name) != 0) continue;
    const int without_data = kinds[k].begin == begin_ibarrier;
    for (int s = 0; s < (without_data ? 1 : o.size_count); ++s) {
      call c = kinds[k];
      c.from = from;
      c.into = into;
      c.bytes = without_data ? 0 : o.sizes[s];
      c.ranks = ranks;
      c.threads = threads;
      const together_call timed = {run, &c};
      if (!threads) together_measure(&timed, o.budget_ms, tell_latency);
      if (overlap) measure_overlap(&c, o.budget_ms);
    }
  }
  MPI_Finalize();
  return 0;
}
