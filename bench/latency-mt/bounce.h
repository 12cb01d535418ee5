/* SPDX-License-Identifier: BSD-3-Clause */
// What both programs of this folder share: one bouncing thread or fiber, and the sums over all.
// Thread i of rank 0 bounces a message with thread i of rank 1 under tag i. Of their metrics,
// `latency` is what one thread sees (half its own round trip, mean over threads); `rate` is all
// messages of all threads per time. Words: threads=1,2,14 sizes=8,64 budget_ms=N
#ifndef SINEW_BENCH_BOUNCE_H
#define SINEW_BENCH_BOUNCE_H

#include "../common/line.h"

enum { most_threads = 256, most_counts = 16, stride = 64, samples = 3 };

static double line_before;  // the line's trip, measured before the threads started

typedef struct {
  int rank, tag, bytes;
  double budget_ns;
  double begin, end;  // of what was timed
  long round_trips;
  char *outgoing, *incoming;
} bouncer;

// Stops by time, not by count: an MPI that spins needs many milliseconds for a message. The first
// byte of each message tells the echoing side whether another one follows. The clock is read rarely
// once messages are known to be fast.
static inline void bounce(bouncer* b) {
  if (b->rank == 1) {
    do {
      MPI_Recv(b->incoming, b->bytes, MPI_BYTE, 0, b->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      b->outgoing[0] = b->incoming[0];
      MPI_Send(b->outgoing, b->bytes, MPI_BYTE, 0, b->tag, MPI_COMM_WORLD);
    } while (b->outgoing[0] != 0);
    return;
  }
  const double start = now_ns();
  long done = 0, look = 1, counted_from = -1;
  b->outgoing[0] = 1;
  for (;;) {
    MPI_Send(b->outgoing, b->bytes, MPI_BYTE, 1, b->tag, MPI_COMM_WORLD);
    MPI_Recv(b->incoming, b->bytes, MPI_BYTE, 1, b->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (b->outgoing[0] == 0) return;
    if (++done < look) continue;
    look = done + 1 + (done / 8 < stride ? done / 8 : stride);
    const double now = now_ns();
    if (counted_from < 0) {
      if (now - start < b->budget_ns / 5) continue;  // warming up
      counted_from = done;
      b->begin = now;
    } else if (now - b->begin >= b->budget_ns) {
      b->end = now;
      b->round_trips = done - counted_from;
      b->outgoing[0] = 0;  // one more, which is not counted
    }
  }
}


static inline void prepare(bouncer* b, int rank, int tag, int bytes, double budget_ms) {
  *b = (bouncer){.rank = rank, .tag = tag, .bytes = bytes, .budget_ns = budget_ms * 1e6};
  b->outgoing = make_buffer((size_t)bytes, 1);
  b->incoming = make_buffer((size_t)bytes, 2);
}

// Gives the buffers back; rank 0 reports.
static inline void sum_up(bouncer* all, int threads, const char* kind) {
  double latency = 0, rate = 0;
  for (int i = 0; i < threads; ++i) {
    const double trip = (all[i].end - all[i].begin) / (double)all[i].round_trips;
    latency += trip / 2 / threads;
    rate += 2 / trip;
    free(all[i].outgoing);
    free(all[i].incoming);
  }
  if (all[0].rank == 0) {
    char params[64];
    snprintf(params, sizeof params, "threads=%d,kind=%s,bytes=%d", threads, kind, all[0].bytes);
    report_sample("one-way", "latency", "us", params, latency / 1e3, line_before);
    report_sample("one-way", "rate", "Mmsg/s", params, rate * 1e3, line_before);
  }
}

// Calls run(rank, threads, bytes, budget) for each sample of each count of threads and each size.
static inline void for_all_counts(int argc, char** argv, const options* o, int rank,
                                  void (*run)(int rank, int threads, int bytes, double budget_ms)) {
  int counts[most_counts] = {14}, count = read_numbers(argc, argv, "threads", counts, most_counts);
  if (count == 0) count = 1;
  line_open(rank);
  for (int c = 0; c < count; ++c) {
    if (counts[c] < 1 || counts[c] > most_threads) stop_all("threads: 1 to 256");
    for (int s = 0; s < samples * o->size_count; ++s) {
      const int bytes = o->sizes[s / samples] > 0 ? o->sizes[s / samples] : 1;
      MPI_Barrier(MPI_COMM_WORLD);
      line_before = line_trip(rank);
      if (rank < 2) run(rank, counts[c], bytes, o->budget_ms / samples);
    }
  }
}

#endif
