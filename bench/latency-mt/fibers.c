// SPDX-License-Identifier: BSD-3-Clause
// The same with Sinew's fibers: all of a rank on one worker, so MPI is used by one thread only.
#include <sinew.h>

#include "bounce.h"

static void run_one(void* b) { bounce(b); }

static void measure(int rank, int threads, int bytes, double budget_ms) {
  static bouncer all[most_threads];
  static sinew_fiber* running[most_threads];
  for (int i = 0; i < threads; ++i) prepare(&all[i], rank, i, bytes, budget_ms);
  for (int i = 0; i < threads; ++i) {
    if (sinew_fiber_create(&running[i], run_one, &all[i], NULL) != SINEW_OK) {
      stop_all("no more fibers");
    }
  }
  for (int i = 0; i < threads; ++i) sinew_fiber_join(running[i]);
  sum_up(all, threads, "fiber");
}

int main(int argc, char** argv) {
  const struct sinew_start_options one = {.workers = 1};
  options o = read_options(argc, argv);
  const int rank = start(&argc, &argv, &o, 2);
  if (sinew_start(&one) != SINEW_OK) stop_all(sinew_last_error());
  for_all_counts(argc, argv, &o, rank, measure);
  MPI_Finalize();
  sinew_stop();
  return 0;
}
