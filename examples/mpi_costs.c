// SPDX-License-Identifier: BSD-3-Clause
/* What being one of many ranks costs: time and memory of the start, of the first message to each
   other rank, and the time of barrier and allreduce. The largest of all ranks' figures; memory is
   what malloc has given out. docs/internals/scale.md computes the same. With --start-only each rank
   prints what its start has cost, and ends without another word. */
#define _GNU_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double now_us(void) { return MPI_Wtime() * 1e6; }

static double kilobytes(void) {
  struct mallinfo2 all = mallinfo2();
  return (double)(all.uordblks + all.hblkhd) / 1000;
}

static double worst(double mine) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

static void meet_all(int rank, int size) {
  for (int i = 1; i < size; ++i) {
    int to = rank, from = -1;
    MPI_Sendrecv(&to, 1, MPI_INT, (rank + i) % size, 0, &from, 1, MPI_INT, (rank + size - i) % size,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (from != (rank + size - i) % size) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
}

static double barrier_us(void) {
  const int rounds = 200;
  double began = 0;
  for (int i = -20; i < rounds; ++i) {
    if (i == 0) {
      began = now_us();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return worst((now_us() - began) / rounds);
}

static double allreduce_us(int count, int rounds) {
  double* data = calloc((size_t)count, sizeof *data);
  double* sum = calloc((size_t)count, sizeof *sum);
  double began = 0;
  for (int i = -5; i < rounds; ++i) {
    if (i == 0) {
      began = now_us();
    }
    MPI_Allreduce(data, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  double each = (now_us() - began) / rounds;
  free(data);
  free(sum);
  return worst(each);
}

int main(int argc, char** argv) {
  int rank, size;
  double memory = kilobytes(), began = now_us();
  MPI_Init(&argc, &argv);
  double start = now_us() - began, start_memory = kilobytes() - memory;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && strcmp(argv[1], "--start-only") == 0) {
    printf("rank %d of %d: start %.1f ms, %.1f kB\n", rank, size, start / 1000, start_memory);
    fflush(stdout);
    _exit(0);
  }
  memory = kilobytes();
  began = now_us();
  meet_all(rank, size);
  double met = now_us() - began, met_memory = kilobytes() - memory;
  met = worst(met);
  met_memory = worst(met_memory);
  start = worst(start);
  start_memory = worst(start_memory);
  double barrier = barrier_us(), small = allreduce_us(1, 200), large = allreduce_us(1 << 17, 10);
  if (rank == 0) {
    const double others = size > 1 ? size - 1 : 1;
    printf("%d ranks: start %.1f ms, %.0f kB; ", size, start / 1000, start_memory);
    printf("first messages %.0f us a rank, %.0f kB in all; ", met / others, met_memory);
    printf("barrier %.1f us; allreduce of 8 B %.1f us, of 1 MiB %.0f us\n", barrier, small, large);
  }
  MPI_Finalize();
  return 0;
}
