// SPDX-License-Identifier: BSD-3-Clause
// The same with threads of the system, up to its limit. Words: threads=8,64 bytes=64
#include <pthread.h>

#include "../common/line.h"

typedef pthread_t runner;
typedef pthread_barrier_t meeting;
enum { steady_messages = 20000, stack_bytes = 65536 };

static pthread_attr_t small_stack;

static void (*run)(size_t);  // of all that are started together

static void* enter(void* index) {
  run((size_t)index);
  return NULL;
}
static int runner_start(runner* made, void (*entry)(size_t), size_t index) {
  run = entry;
  return pthread_create(made, &small_stack, enter, (void*)index) == 0;
}
static void runner_join(runner* made) { pthread_join(*made, NULL); }
static void meeting_open(meeting* m, unsigned parties) { pthread_barrier_init(m, NULL, parties); }
static void meeting_wait(meeting* m) { pthread_barrier_wait(m); }

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void run_gate(size_t index) {
  (void)index;
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
}

// Both ranks hold theirs at the same time.
static int runners_possible(int wanted) {
  runner* const made = calloc((size_t)wanted, sizeof *made);
  int can = 0;
  if (made == NULL) return 0;
  pthread_mutex_lock(&gate);
  while (can < wanted && runner_start(&made[can], run_gate, 0)) ++can;
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < can; ++i) runner_join(&made[i]);
  free(made);
  return can;
}

#include "crowd.h"

int main(int argc, char** argv) {
  options o = read_options(argc, argv);
  o.thread_multiple = 1;
  pthread_attr_init(&small_stack);
  pthread_attr_setstacksize(&small_stack, stack_bytes);
  const int rank = start(&argc, &argv, &o, 2);
  line_open(rank);
  if (rank < 2) measure_counts(argc, argv, rank, "pthread");
  MPI_Finalize();
  return 0;
}
