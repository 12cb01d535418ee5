// Very many fibers on each of two ranks, one worker each. Fiber i of rank 0 sends 64 bytes to fiber
// i of rank 1 under tag i and waits for the answer. Words: fibers=8,64 bytes=64 stack=4096
// Two ways of timing, and what a fiber costs in memory:
//   method=paper    as the seed's own program did: wall time from the first spawn to the last join,
//                  divided by 2 max(1000, N). From N = 1000 on each fiber does one round trip, and
//                  its making, the first touch of its stack and its end are all in the time.
//   method=steady  all fibers live and have talked once; then so many round trips each, without
//                  making or ending any; wall time divided by the messages.
//   memory         growth of this process's resident memory since its start, while all of
//                  them wait, divided by N; told of counts larger than those before.
#include <sinew.h>
#include <unistd.h>

#include "../common/line.h"

enum { most_counts = 32, most_bytes = 8192, least_trips = 1000, steady_messages = 400000 };

typedef struct {
  int rank, bytes, fibers, first_trips, trips;
  double line_ns;  // the line's trip before what is being timed
  sinew_barrier ready, begin, end;
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

static void run_seed(void* index) { trips((int)(size_t)index, all.trips); }

static void run_steady(void* index) {
  trips((int)(size_t)index, 1);
  sinew_barrier_wait(&all.ready);
  sinew_barrier_wait(&all.begin);
  trips((int)(size_t)index, all.trips);
  sinew_barrier_wait(&all.end);
}

static void spawn_all(sinew_fiber** made, void (*entry)(void*)) {
  for (int i = 0; i < all.fibers; ++i) {
    if (sinew_fiber_create(&made[i], entry, (void*)(size_t)i, NULL) != SINEW_OK) {
      stop_all("no memory for that many fibers");
    }
  }
}

static void join_all(sinew_fiber** made) {
  for (int i = 0; i < all.fibers; ++i) sinew_fiber_join(made[i]);
}

static double resident_bytes(void) {
  long total = 0, resident = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%ld %ld", &total, &resident) != 2) resident = 0;
  if (f != NULL) fclose(f);
  return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void tell(const char* name, const char* metric, const char* unit, const char* method,
                 double value) {
  char params[96];
  if (all.rank != 0) return;
  snprintf(params, sizeof params, "fibers=%d,bytes=%d%s%s", all.fibers, all.bytes,
           *method ? ",method=" : "", method);
  report_sample(name, metric, unit, params, value, all.line_ns);
}

// Memory grows only with the largest count so far: stacks are kept and used again.
static void measure(double at_start) {
  static int most_so_far = 0;
  sinew_fiber** made = calloc((size_t)all.fibers, sizeof *made);
  const unsigned parties = (unsigned)all.fibers + 1;
  if (made == NULL) stop_all("out of memory");
  memset(made, 1, (size_t)all.fibers * sizeof *made);
  sinew_barrier_init(&all.ready, parties);
  sinew_barrier_init(&all.begin, parties);
  sinew_barrier_init(&all.end, parties);
  all.trips = steady_messages / 2 / all.fibers;
  if (all.trips < 2) all.trips = 2;
  spawn_all(made, run_steady);
  sinew_barrier_wait(&all.ready);
  const double grown = resident_bytes() - at_start;
  MPI_Barrier(MPI_COMM_WORLD);
  all.line_ns = line_trip(all.rank);
  double begin = now_ns();
  sinew_barrier_wait(&all.begin);
  sinew_barrier_wait(&all.end);
  const double steady = (now_ns() - begin) / 2 / all.fibers / all.trips;
  join_all(made);
  tell("one-way", "latency", "us", "steady", steady / 1e3);
  if (all.fibers > most_so_far) {
    most_so_far = all.fibers;
    tell("one-way", "memory", "B/fiber", "", grown / all.fibers);
  }
  all.trips = all.fibers < least_trips ? least_trips / all.fibers : 1;
  MPI_Barrier(MPI_COMM_WORLD);
  all.line_ns = line_trip(all.rank);
  begin = now_ns();
  spawn_all(made, run_seed);
  join_all(made);
  tell("one-way", "latency", "us", "paper",
       (now_ns() - begin) / 2 / (all.fibers > least_trips ? all.fibers : least_trips) / 1e3);
  free(made);
}

int main(int argc, char** argv) {
  const struct sinew_start_options one = {.workers = 1};
  const options o = read_options(argc, argv);
  int counts[most_counts] = {1000}, count = 1;
  all.bytes = 64;
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "bytes=", 6) == 0) all.bytes = atoi(argv[i] + 6);
    if (strncmp(argv[i], "stack=", 6) == 0) setenv("SINEW_FIBER_STACK", argv[i] + 6, 1);
    if (strncmp(argv[i], "fibers=", 7) != 0) continue;
    count = 0;
    for (char* at = argv[i] + 7; *at && count < most_counts;) {
      counts[count++] = (int)strtol(at, &at, 10);
      if (*at++ != ',') break;
    }
  }
  if (all.bytes < 1 || all.bytes > most_bytes) stop_all("bytes: 1 to 8192");
  all.rank = start(&argc, &argv, &o, 2);
  line_open(all.rank);
  if (all.rank < 2) {
    if (sinew_start(&one) != SINEW_OK) stop_all(sinew_last_error());
    const double at_start = resident_bytes();
    for (int c = 0; c < count; ++c) {
      all.fibers = counts[c] > 0 ? counts[c] : 1;
      measure(at_start);
    }
  }
  MPI_Finalize();
  if (all.rank < 2) sinew_stop();
  return 0;
}
