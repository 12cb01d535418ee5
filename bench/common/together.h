/* SPDX-License-Identifier: BSD-3-Clause */
// Calls that all ranks make together: the time of one, the mean over the ranks.
#ifndef SINEW_BENCH_TOGETHER_H
#define SINEW_BENCH_TOGETHER_H

#include "line.h"

enum { together_batches = 25, together_samples = 5 };

typedef struct {
  void (*run)(const void* on);
  const void* on;
} together_call;

// One batch, back to back after a barrier; all ranks have ended it when it returns, so that the
// next one begins with all. All have the same sum, and so the same plan.
static inline double together_batch(const together_call* c, int repetitions) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_ns();
  for (int i = 0; i < repetitions; ++i) c->run(c->on);
  const double own = (now_ns() - begin) / repetitions;
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all / ranks;
}

static inline plan together_plan(const together_call* c, double budget_ms) {
  together_batch(c, 3);
  plan p = make_plan(together_batch(c, 3), budget_ms);
  if (p.batches > together_batches) {
    p.repetitions *= p.batches / together_batches;
    p.batches = together_batches;
  }
  return p;
}

// Tells rank 0 each sample in ns: the median of its share of the batches, with the line's trip just
// before where the ranks are two.
static inline void together_measure(const together_call* c, double budget_ms,
                                    void (*tell)(const void* on, double ns, double line_ns)) {
  int rank, ranks;
  double ns[together_batches];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const plan p = together_plan(c, budget_ms);
  const int samples = p.batches < together_samples ? p.batches : together_samples;
  for (int s = 0; s < samples; ++s) {
    const double line = ranks == 2 ? line_trip(rank) : 0;
    const int batches = p.batches / samples;
    for (int b = 0; b < batches; ++b) ns[b] = together_batch(c, p.repetitions);
    if (rank == 0) tell(c->on, median(ns, batches), line);
  }
}

#endif
