// SPDX-License-Identifier: BSD-3-Clause
// Message rate of many threads, without and with what a program may promise of a communicator: no
// wildcards, messages as long as their receives, any order. Thread i of rank 0 sends windows of
// 64 messages with tag i to thread i of rank 1; an empty answer closes a window. `gain`: how many
// times faster it is with the promises, sample by sample. Words: threads=1,8 sizes=8
#include <pthread.h>

#include "../common/line.h"

enum {
  most_threads = 64,
  most_counts = 8,
  window = 64,
  answer = 1000,  // tags of answers: this and the number of the thread
  samples = 5,
  batches = 5
};

typedef struct {
  MPI_Comm comm;
  int rank, bytes, windows, threads;
  pthread_barrier_t begin, end;
} traffic;

typedef struct {
  traffic* of;
  int number;
  char* buffer;
} worker;

static void stream(const worker* me) {
  const traffic* const t = me->of;
  const int peer = 1 - t->rank;
  MPI_Request requests[window];
  for (int w = 0; w < t->windows; ++w) {
    for (int i = 0; i < window; ++i) {
      if (t->rank == 0) {
        MPI_Isend(me->buffer, t->bytes, MPI_BYTE, peer, me->number, t->comm, &requests[i]);
      } else {
        MPI_Irecv(me->buffer, t->bytes, MPI_BYTE, peer, me->number, t->comm, &requests[i]);
      }
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    if (t->rank == 0) {
      MPI_Recv(NULL, 0, MPI_BYTE, peer, answer + me->number, t->comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(NULL, 0, MPI_BYTE, peer, answer + me->number, t->comm);
    }
  }
}

static void* serve(void* on) {
  const worker* const me = on;
  for (;;) {
    pthread_barrier_wait(&me->of->begin);
    if (me->of->windows == 0) return NULL;
    stream(me);
    pthread_barrier_wait(&me->of->end);
  }
}

// Of all threads together, in ns for each message. The main thread waits outside of MPI meanwhile.
static double batch(traffic* t, MPI_Comm comm, int windows) {
  t->comm = comm;
  t->windows = windows;
  const double begin = now_ns();
  pthread_barrier_wait(&t->begin);
  pthread_barrier_wait(&t->end);
  return (now_ns() - begin) / ((double)windows * window * t->threads);
}

// How many windows take so long: until all threads are at work and have had their turns, a batch
// tells how they are woken, and not how messages flow.
static int windows_for(traffic* t, MPI_Comm comm, double ns) {
  for (int windows = 4;; windows *= 2) {
    const double took = batch(t, comm, windows) * windows * window * t->threads;
    int enough = took >= ns / 1.5 || windows >= 1 << 20;
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (enough) return windows;
  }
}

static void measure(traffic* t, MPI_Comm plain, MPI_Comm promised, double budget_ms) {
  const MPI_Comm comms[] = {plain, promised};
  double ns[2][batches], middle[2];
  char params[64];
  batch(t, plain, 2);
  batch(t, promised, 2);
  const int windows = windows_for(t, plain, budget_ms * 1e6 / (2 * samples * batches));
  for (int s = 0; s < samples; ++s) {
    const double line = line_trip(t->rank);
    for (int b = 0; b < batches; ++b) {
      for (int way = 0; way < 2; ++way) ns[way][b] = batch(t, comms[way], windows);
    }
    for (int way = 0; way < 2; ++way) {
      middle[way] = median(ns[way], batches);
      snprintf(params, sizeof params, "threads=%d,bytes=%d,promises=%s", t->threads, t->bytes,
               way == 0 ? "none" : "all");
      if (t->rank == 0) {
        report_sample("window", "rate", "Mmsg/s", params, 1e3 / middle[way], line);
      }
    }
    snprintf(params, sizeof params, "threads=%d,bytes=%d", t->threads, t->bytes);
    if (t->rank == 0) {
      report_sample("window", "gain", "times", params, middle[0] / middle[1], line);
    }
  }
}

static void measure_team(traffic* t, MPI_Comm plain, MPI_Comm promised, double budget_ms) {
  static worker team[most_threads];
  pthread_t running[most_threads];
  pthread_barrier_init(&t->begin, NULL, (unsigned)t->threads + 1);
  pthread_barrier_init(&t->end, NULL, (unsigned)t->threads + 1);
  for (int i = 0; i < t->threads; ++i) {
    team[i] = (worker){t, i, make_buffer((size_t)t->bytes, t->rank)};
    if (pthread_create(&running[i], NULL, serve, &team[i]) != 0) stop_all("no more threads");
  }
  measure(t, plain, promised, budget_ms);
  t->windows = 0;
  pthread_barrier_wait(&t->begin);
  for (int i = 0; i < t->threads; ++i) {
    pthread_join(running[i], NULL);
    free(team[i].buffer);
  }
  pthread_barrier_destroy(&t->begin);
  pthread_barrier_destroy(&t->end);
}

static MPI_Comm make_promised(void) {
  static const char* const keys[] = {"mpi_assert_no_any_source", "mpi_assert_no_any_tag",
                                     "mpi_assert_exact_length", "mpi_assert_allow_overtaking"};
  MPI_Info info;
  MPI_Comm made;
  MPI_Info_create(&info);
  for (size_t k = 0; k < sizeof keys / sizeof *keys; ++k) MPI_Info_set(info, keys[k], "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made);
  MPI_Info_free(&info);
  return made;
}

int main(int argc, char** argv) {
  static traffic t;
  int counts[most_counts] = {8}, count = read_numbers(argc, argv, "threads", counts, most_counts);
  options o = read_options(argc, argv);
  o.thread_multiple = 1;
  if (count == 0) count = 1;
  t.rank = start(&argc, &argv, &o, 2);
  line_open(t.rank);
  MPI_Comm plain, promised = make_promised();
  MPI_Comm_dup(MPI_COMM_WORLD, &plain);
  for (int c = 0; c < count && t.rank < 2; ++c) {
    t.threads = counts[c];
    t.bytes = o.sizes[0];
    if (t.threads < 1 || t.threads > most_threads) stop_all("threads: 1 to 64");
    measure_team(&t, plain, promised, o.budget_ms);
  }
  MPI_Comm_free(&plain);
  MPI_Comm_free(&promised);
  MPI_Finalize();
  return 0;
}
