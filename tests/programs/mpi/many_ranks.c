// SPDX-License-Identifier: BSD-3-Clause
/* What each rank says to each other one at once: also with hundreds of ranks on a node. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* The same for all ranks of a host. */
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static long word(int from, int to) { return from * 10007L + to; }

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 3; ++i) {
    const long mine = rank + i;
    long sum = 0, latest = rank == i % size ? i : -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1L) / 2 + (long)size * i);
    MPI_Bcast(&latest, 1, MPI_LONG, i % size, MPI_COMM_WORLD);
    CHECK(latest == i);
  }
  long* const out = malloc((size_t)size * sizeof *out);
  long* const in = malloc((size_t)size * sizeof *in);
  CHECK(out != NULL && in != NULL);
  for (int to = 0; to < size; ++to) {
    out[to] = word(rank, to);
  }
  MPI_Alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from) {
    CHECK(in[from] == word(from, rank));
  }
  for (int i = 0; i < 8; ++i) { /* nobody leaves before the last has come */
    if (rank == i * 16 % size) {
      usleep(20000);
    }
    const double came = now();
    MPI_Barrier(MPI_COMM_WORLD);
    const double left = now();
    double last = 0, first = 0;
    MPI_Allreduce(&came, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&left, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    CHECK(last <= first);
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
