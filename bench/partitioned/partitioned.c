// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication. A message in partitions, which threads of rank 0 mark ready, each its
// own; against as many messages, which they send by MPI_Isend to receives by MPI_Irecv. Timed from
// before the threads begin until the other rank has everything and has said so. Words: threads=N
// partitions=N sizes=N,N (bytes of all)
#include <pthread.h>

#include "../common/line.h"

enum { most_threads = 16, most_partitions = 1024, samples = 5, batches = 5 };

typedef struct {
  int rank, threads, partitions, bytes;
  char* buffer;
  MPI_Request whole;                    // the partitioned one
  MPI_Request parts[most_partitions];   // the others
  int partitioned;                      // the way
  int last;                             // the threads end
  pthread_barrier_t begin, end;
} work;

typedef struct {
  work* of;
  int number;
} worker;

// Open MPI 5 has it, though it says that it is of MPI 3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static void init_partitioned(work* w) {
  const MPI_Count each = w->bytes / w->partitions;
  if (w->rank == 0) {
    MPI_Psend_init(w->buffer, w->partitions, each, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &w->whole);
  } else {
    MPI_Precv_init(w->buffer, w->partitions, each, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &w->whole);
  }
}
static void mark_ready(work* w, int partition) { MPI_Pready(partition, w->whole); }
#else
static void init_partitioned(work* w) {
  (void)w;
  stop_all("this MPI has no partitioned communication");
}
static void mark_ready(work* w, int partition) {
  (void)w;
  (void)partition;
}
#endif

// Rank 0's part of a thread: its share of the partitions.
static void send_share(work* w, int number) {
  const int each = w->bytes / w->partitions;
  for (int p = number; p < w->partitions; p += w->threads) {
    if (w->partitioned) {
      mark_ready(w, p);
    } else {
      MPI_Isend(w->buffer + (size_t)p * each, each, MPI_BYTE, 1, p, MPI_COMM_WORLD, &w->parts[p]);
    }
  }
}

static void* serve(void* on) {
  const worker* const me = on;
  work* const w = me->of;
  for (;;) {
    pthread_barrier_wait(&w->begin);
    if (w->last) return NULL;
    send_share(w, me->number);
    pthread_barrier_wait(&w->end);
  }
}

static void wait_for_all(work* w) {
  if (w->partitioned) {
    MPI_Wait(&w->whole, MPI_STATUS_IGNORE);
  } else {
    MPI_Waitall(w->partitions, w->parts, MPI_STATUSES_IGNORE);
  }
}

// The main thread of rank 0 is thread 0 of its team.
static void one_round(work* w) {
  const int each = w->bytes / w->partitions;
  if (w->partitioned) MPI_Start(&w->whole);
  if (w->rank == 0) {
    pthread_barrier_wait(&w->begin);
    send_share(w, 0);
    pthread_barrier_wait(&w->end);
    wait_for_all(w);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, most_partitions, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  for (int p = 0; !w->partitioned && p < w->partitions; ++p) {
    MPI_Irecv(w->buffer + (size_t)p * each, each, MPI_BYTE, 0, p, MPI_COMM_WORLD, &w->parts[p]);
  }
  wait_for_all(w);
  MPI_Send(NULL, 0, MPI_BYTE, 0, most_partitions, MPI_COMM_WORLD);
}

static double rounds(work* w, int partitioned, int times) {
  w->partitioned = partitioned;
  const double begin = now_ns();
  for (int i = 0; i < times; ++i) one_round(w);
  return (now_ns() - begin) / times;
}

static void measure(work* w, double budget_ms) {
  double ns[2][batches];
  char params[96];
  int times = 1;
  rounds(w, 0, 3);
  rounds(w, 1, 3);
  const double one = rounds(w, 0, 5) + rounds(w, 1, 5);
  if (budget_ms * 1e6 / one > samples * batches) {
    times = (int)(budget_ms * 1e6 / one / (samples * batches));
  }
  MPI_Bcast(&times, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int s = 0; s < samples; ++s) {
    const double line = line_trip(w->rank);
    for (int b = 0; b < batches; ++b) {
      for (int way = 0; way < 2; ++way) ns[way][b] = rounds(w, way, times);
    }
    double middle[2];
    for (int way = 0; way < 2; ++way) {
      middle[way] = median(ns[way], batches);
      snprintf(params, sizeof params, "threads=%d,partitions=%d,bytes=%d,way=%s", w->threads,
               w->partitions, w->bytes, way ? "partitioned" : "isend-irecv");
      if (w->rank == 0) {
        report_sample("message", "latency", "us", params, middle[way] / 1e3, line);
      }
    }
    snprintf(params, sizeof params, "threads=%d,partitions=%d,bytes=%d", w->threads, w->partitions,
             w->bytes);
    if (w->rank == 0) {
      report_sample("message", "gain", "times", params, middle[0] / middle[1], line);
    }
  }
}

static void measure_size(work* w, int bytes, double budget_ms) {
  w->bytes = bytes;
  w->buffer = make_buffer((size_t)bytes, w->rank);
  init_partitioned(w);
  measure(w, budget_ms);
  MPI_Request_free(&w->whole);
  free(w->buffer);
}

int main(int argc, char** argv) {
  static work w = {.threads = 2, .partitions = 16};
  static worker team[most_threads];
  pthread_t running[most_threads];
  options o = read_options(argc, argv);
  o.thread_multiple = 1;
  read_numbers(argc, argv, "threads", &w.threads, 1);
  read_numbers(argc, argv, "partitions", &w.partitions, 1);
  w.rank = start(&argc, &argv, &o, 2);
  line_open(w.rank);
  if (w.threads < 1 || w.threads > most_threads) stop_all("threads: 1 to 16");
  if (w.partitions < 1 || w.partitions > most_partitions) stop_all("partitions: 1 to 1024");
  const int others = w.rank == 0 ? w.threads : 1;
  pthread_barrier_init(&w.begin, NULL, (unsigned)others);
  pthread_barrier_init(&w.end, NULL, (unsigned)others);
  for (int t = 1; t < others; ++t) {
    team[t] = (worker){&w, t};
    if (pthread_create(&running[t], NULL, serve, &team[t]) != 0) stop_all("no more threads");
  }
  for (int i = 0; i < o.size_count && w.rank < 2; ++i) {
    if (o.sizes[i] % w.partitions != 0) stop_all("the partitions must divide the bytes");
    measure_size(&w, o.sizes[i], o.budget_ms);
  }
  w.last = 1;
  if (others > 1) pthread_barrier_wait(&w.begin);
  for (int t = 1; t < others; ++t) pthread_join(running[t], NULL);
  MPI_Finalize();
  return 0;
}
