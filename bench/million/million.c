// SPDX-License-Identifier: BSD-3-Clause
// Very many fibers on each of two ranks, one worker each; crowd.h says what is measured.
// Words: threads=8,64 bytes=64 stack=4096
#include <sinew.h>

#include "../common/line.h"

typedef sinew_fiber* runner;
typedef sinew_barrier meeting;
enum { steady_messages = 400000 };

static int runners_possible(int wanted) { return wanted; }

static void (*run)(size_t);  // of all that are started together

static void enter(void* index) { run((size_t)index); }
static int runner_start(runner* made, void (*entry)(size_t), size_t index) {
  run = entry;
  return sinew_fiber_create(made, enter, (void*)index, NULL) == SINEW_OK;
}
static void runner_join(runner* made) { sinew_fiber_join(*made); }
static void meeting_open(meeting* m, unsigned parties) { sinew_barrier_init(m, parties); }
static void meeting_wait(meeting* m) { sinew_barrier_wait(m); }

#include "crowd.h"

int main(int argc, char** argv) {
  const struct sinew_start_options one = {.workers = 1};
  const options o = read_options(argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "stack=", 6) == 0) setenv("SINEW_FIBER_STACK", argv[i] + 6, 1);
  }
  const int rank = start(&argc, &argv, &o, 2);
  line_open(rank);
  if (rank < 2) {
    if (sinew_start(&one) != SINEW_OK) stop_all(sinew_last_error());
    measure_counts(argc, argv, rank, "fiber");
  }
  MPI_Finalize();
  if (rank < 2) sinew_stop();
  return 0;
}
