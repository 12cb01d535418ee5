// SPDX-License-Identifier: BSD-3-Clause
// One-way latency with many threads.
#include <pthread.h>

#include "bounce.h"

static void* run_one(void* b) {
  bounce(b);
  return NULL;
}

static void measure(int rank, int threads, int bytes, double budget_ms) {
  static bouncer all[most_threads];
  static pthread_t running[most_threads];
  for (int i = 0; i < threads; ++i) prepare(&all[i], rank, i, bytes, budget_ms);
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&running[i], NULL, run_one, &all[i]) != 0) stop_all("no more threads");
  }
  for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
  sum_up(all, threads, "pthread");
}

int main(int argc, char** argv) {
  options o = read_options(argc, argv);
  o.thread_multiple = 1;
  const int rank = start(&argc, &argv, &o, 2);
  for_all_counts(argc, argv, &o, rank, measure);
  MPI_Finalize();
  return 0;
}
