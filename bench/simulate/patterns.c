// SPDX-License-Identifier: BSD-3-Clause
/* Patterns of single messages, so that no library's collectives differ: how long each takes in the
 * time that ranks see. All ranks begin at one time, until which they sleep, and the last one's end
 * counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { most = 1 << 20, tag = 1 };

static int rank, size;
static char *out, *in;

static void post(int to, int from, int bytes, MPI_Request* both) {
  MPI_Irecv(in, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(out, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD, &both[1]);
}

static void exchange(int to, int from, int bytes) {
  MPI_Request both[2];
  post(to, from, bytes, both);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

/* To the next rank. */
static void shift(int bytes) { exchange((rank + 1) % size, (rank + size - 1) % size, bytes); }

/* Half way around: all links of a torus share its cables. */
static void opposite(int bytes) {
  exchange((rank + size / 2) % size, (rank + size / 2) % size, bytes);
}

/* All to rank 0. */
static void incast(int bytes) {
  if (rank != 0) {
    MPI_Send(out, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
    return;
  }
  for (int i = 1; i < size; ++i) {
    MPI_Recv(in, bytes, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Everybody to everybody else, at once. */
static void all_pairs(int bytes) {
  MPI_Request* const all = malloc(2 * (size_t)size * sizeof *all);
  for (int i = 1; i < size; ++i) {
    post((rank + i) % size, (rank + size - i) % size, bytes, &all[2 * (i - 1)]);
  }
  MPI_Waitall(2 * (size - 1), all, MPI_STATUSES_IGNORE);
  free(all);
}

static const struct {
  const char* name;
  void (*run)(int bytes);
  int bytes;
} patterns[] = {{"shift", shift, 1024},         {"shift", shift, 65536},
                {"shift", shift, most},         {"opposite", opposite, 1024},
                {"opposite", opposite, 65536},  {"opposite", opposite, most},
                {"incast", incast, 1024},       {"incast", incast, 32768},
                {"all-pairs", all_pairs, 1024}, {"all-pairs", all_pairs, 65536}};

/* Returns at the same time on all ranks, which it returns. */
static double begin_together(void) {
  const double soon = 1e-3;
  double now = MPI_Wtime(), latest;
  MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  latest += soon;
  const struct timespec left = {0, (long)((latest - MPI_Wtime()) * 1e9)};
  nanosleep(&left, NULL);
  return latest;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  out = calloc(1, most);
  in = calloc(1, most);
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
    const double began = begin_together();
    patterns[i].run(patterns[i].bytes);
    const double ended = MPI_Wtime();
    double last;
    MPI_Reduce(&ended, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("@ %s seen us bytes=%d,ranks=%d %.9g\n", patterns[i].name, patterns[i].bytes, size,
             (last - began) * 1e6);
    }
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
