/* SPDX-License-Identifier: BSD-3-Clause */
// Very many threads of control on each of two ranks. Number i of rank 0 sends 64 bytes to number i
// of rank 1 under tag i and waits for the answer. Words: threads=8,64 bytes=64
// Two ways of timing, and what each of them costs in memory:
//   method=paper    as the seed's own program did: wall time from the first spawn to the last join,
//                  divided by 2 max(1000, N). From N = 1000 on each does one round trip, and its
//                  making, the first touch of its stack and its end are all in the time.
//   method=steady  all live and have talked once; then so many round trips each, without making or
//                  ending any; wall time divided by the messages.
//   memory         growth of this process's resident memory since its start, while all of
//                  them wait, divided by N; told of counts larger than those before.
// Where a machine cannot have that many at once, the row `limit` says how many, and no other comes.
//
// Who includes this defines before: `runner` (one of the crowd), `meeting` (a barrier), the number
// steady_messages, and
//   static int runners_possible(int wanted);  // at once on each rank; `wanted` if that many can
//   static int runner_start(runner*, void (*entry)(size_t), size_t index);  // whether it runs
//   static void runner_join(runner*);
//   static void meeting_open(meeting*, unsigned parties);
//   static void meeting_wait(meeting*);
#ifndef SINEW_BENCH_CROWD_H
#define SINEW_BENCH_CROWD_H

enum { most_counts = 32, most_bytes = 8192, least_trips = 1000 };

typedef struct {
  int rank, bytes, threads, trips;
  const char* kind;
  double line_ns;  // the line's trip before what is being timed
  meeting ready, begin, end;
} plan_of_all;

static plan_of_all all;

// As in the original, all share their buffers: what is measured is the way, not the data.
static char outgoing[most_bytes], incoming[most_bytes];

static void trips(int tag, int count) {
  for (int i = 0; i < count; ++i) {
    if (all.rank == 0) {
      MPI_Send(outgoing, all.bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
      MPI_Recv(incoming, all.bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(incoming, all.bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(outgoing, all.bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    }
  }
}

static void run_seed(size_t index) { trips((int)index, all.trips); }

static void run_steady(size_t index) {
  trips((int)index, 1);
  meeting_wait(&all.ready);
  meeting_wait(&all.begin);
  trips((int)index, all.trips);
  meeting_wait(&all.end);
}

static void spawn_all(runner* made, void (*entry)(size_t)) {
  for (int i = 0; i < all.threads; ++i) {
    if (!runner_start(&made[i], entry, (size_t)i)) stop_all("no memory for that many");
  }
}

static void join_all(runner* made) {
  for (int i = 0; i < all.threads; ++i) runner_join(&made[i]);
}

static double resident_bytes(void) {
  long total = 0, resident = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%ld %ld", &total, &resident) != 2) resident = 0;
  if (f != NULL) fclose(f);
  return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void tell(const char* metric, const char* unit, const char* method, double value) {
  char params[96];
  if (all.rank != 0) return;
  snprintf(params, sizeof params, "threads=%d,bytes=%d,kind=%s%s%s", all.threads, all.bytes,
           all.kind, *method ? ",method=" : "", method);
  report_sample("one-way", metric, unit, params, value, all.line_ns);
}

// Whether both ranks can have that many at once; otherwise rank 0 says how many they can.
static int possible(void) {
  int can = runners_possible(all.threads), theirs = can;
  MPI_Sendrecv(&can, 1, MPI_INT, 1 - all.rank, 2, &theirs, 1, MPI_INT, 1 - all.rank, 2,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (theirs < can) can = theirs;
  all.line_ns = 0;
  if (can < all.threads) tell("limit", "threads", "", can);
  return can == all.threads;
}

// Memory grows only with the largest count so far: stacks are kept and used again.
static void measure(double at_start) {
  static int most_so_far = 0;
  runner* made = calloc((size_t)all.threads, sizeof *made);
  const unsigned parties = (unsigned)all.threads + 1;
  if (made == NULL) stop_all("out of memory");
  memset(made, 1, (size_t)all.threads * sizeof *made);
  meeting_open(&all.ready, parties);
  meeting_open(&all.begin, parties);
  meeting_open(&all.end, parties);
  all.trips = steady_messages / 2 / all.threads;
  if (all.trips < 2) all.trips = 2;
  spawn_all(made, run_steady);
  meeting_wait(&all.ready);
  const double grown = resident_bytes() - at_start;
  MPI_Barrier(MPI_COMM_WORLD);
  all.line_ns = line_trip(all.rank);
  double begin = now_ns();
  meeting_wait(&all.begin);
  meeting_wait(&all.end);
  const double steady = (now_ns() - begin) / 2 / all.threads / all.trips;
  join_all(made);
  tell("latency", "us", "steady", steady / 1e3);
  if (all.threads > most_so_far) {
    most_so_far = all.threads;
    tell("memory", "B/thread", "", grown / all.threads);
  }
  all.trips = all.threads < least_trips ? least_trips / all.threads : 1;
  MPI_Barrier(MPI_COMM_WORLD);
  all.line_ns = line_trip(all.rank);
  begin = now_ns();
  spawn_all(made, run_seed);
  join_all(made);
  tell("latency", "us", "paper",
       (now_ns() - begin) / 2 / (all.threads > least_trips ? all.threads : least_trips) / 1e3);
  free(made);
}

// Ranks above 1 do nothing; ranks 0 and 1 call this alike.
static void measure_counts(int argc, char** argv, int rank, const char* kind) {
  int counts[most_counts] = {1000};
  int count = read_numbers(argc, argv, "threads", counts, most_counts);
  if (count == 0) count = 1;
  all.rank = rank;
  all.kind = kind;
  all.bytes = 64;
  read_numbers(argc, argv, "bytes", &all.bytes, 1);
  if (all.bytes < 1 || all.bytes > most_bytes) stop_all("bytes: 1 to 8192");
  const double at_start = resident_bytes();
  for (int c = 0; c < count; ++c) {
    all.threads = counts[c] > 0 ? counts[c] : 1;
    if (!possible()) break;
    measure(at_start);
  }
}

#endif
