// SPDX-License-Identifier: BSD-3-Clause
// More ranks than cores: a token around a ring, a small allreduce, and what an idle rank costs.
// Ring and allreduce stop by time, not by count: the token and the sum carry rank 0's decision, so
// an implementation that needs milliseconds for a step does few of them.
#include <unistd.h>

#include "../common/measure.h"

static void ring(int rank, int ranks, const options* o) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  long token = 1, laps = 0;
  double begin = 0, now = 0;
  if (rank != 0) {
    while (token) {
      MPI_Recv(&token, 8, MPI_BYTE, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&token, 8, MPI_BYTE, next, 4, MPI_COMM_WORLD);
    }
    return;
  }
  for (long lap = -1; token; ++lap) {  // lap -1 warms up
    if (lap == 0) begin = now_ns();
    MPI_Send(&token, 8, MPI_BYTE, next, 4, MPI_COMM_WORLD);
    MPI_Recv(&token, 8, MPI_BYTE, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    now = now_ns();
    if (lap >= 0) {
      laps = lap + 1;
      token = now - begin < o->budget_ms * 1e6;
    }
  }
  // The last lap carries the stop; it counts like any other.
  MPI_Send(&token, 8, MPI_BYTE, next, 4, MPI_COMM_WORLD);
  MPI_Recv(&token, 8, MPI_BYTE, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  char params[64];
  snprintf(params, sizeof params, "ranks=%d,bytes=8", ranks);
  report("ring", "latency", "us", params, (now - begin) / (double)laps / ranks / 1e3);
}

static void allreduce(int rank, int ranks, const options* o) {
  long mine = 0, sum = 0, steps = -1;  // step -1 warms up
  double begin = now_ns(), now = begin;
  while (sum == 0) {
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    now = now_ns();
    if (++steps == 0) begin = now;
    if (rank == 0 && steps > 0 && now - begin >= o->budget_ms * 1e6) mine = 1;
  }
  if (rank == 0) {
    char params[64];
    snprintf(params, sizeof params, "ranks=%d,bytes=8", ranks);
    report("allreduce", "latency", "us", params, (now - begin) / (double)steps / 1e3);
  }
}

// Rank 1 waits in MPI_Recv; rank 0 reads rank 1's CPU clock from outside, from 100 ms on.
static void idle(int rank) {
  enum { settle_us = 100000, watch_us = 400000 };
  int pid = (int)getpid();
  if (rank == 1) {
    MPI_Send(&pid, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    MPI_Recv(&pid, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 0) {
    clockid_t clock;
    struct timespec first, second;
    MPI_Recv(&pid, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(settle_us);
    if (clock_getcpuclockid(pid, &clock) != 0) stop_all("cannot read the other rank's CPU clock");
    const double begin = now_ns();
    clock_gettime(clock, &first);
    usleep(watch_us);
    clock_gettime(clock, &second);
    const double wall = now_ns() - begin;
    MPI_Send(&pid, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
    const double used = (double)(second.tv_sec - first.tv_sec) * 1e9 +
                        (double)(second.tv_nsec - first.tv_nsec);
    report("idle", "cpu", "percent", "ranks=2", 100 * used / wall);
  }
}

int main(int argc, char** argv) {
  int ranks;
  const options o = read_options(argc, argv);
  const int rank = start(&argc, &argv, &o, 2);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(o.only, "ring") == 0) ring(rank, ranks, &o);
  if (strcmp(o.only, "allreduce") == 0) allreduce(rank, ranks, &o);
  if (strcmp(o.only, "idle") == 0) idle(rank);
  MPI_Finalize();
  return 0;
}
