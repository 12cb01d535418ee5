// SPDX-License-Identifier: BSD-3-Clause
/* Messages of all lengths there and back, contiguous and not, so that every way of moving them is
 * used; and a program that never calls MPI_Finalize, if asked: `long_messages [forget|threads]`. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 3 << 20 };

static void* wait_for_ever(void* nothing) {
  for (;;) {
    pause();
  }
  return nothing;
}

static void exchange(int rank, char* out, char* in, int bytes) {
  const int other = 1 - rank;
  memset(out, 'a' + rank + bytes % 13, (size_t)bytes);
  MPI_Request request;
  MPI_Irecv(in, bytes, MPI_BYTE, other, bytes % 100, MPI_COMM_WORLD, &request);
  MPI_Send(out, bytes, MPI_BYTE, other, bytes % 100, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < bytes; ++i) {
    if (in[i] != 'a' + other + bytes % 13) {
      fprintf(stderr, "byte %d of %d is wrong\n", i, bytes);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* out = malloc(most);
  char* in = malloc(most);
  for (int bytes = 1; bytes <= most; bytes *= 3) {
    exchange(rank, out, in, bytes);
  }
  exchange(rank, out, in, most);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "threads") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    exit(0);
  }
  if (strcmp(what, "forget") == 0 || (strcmp(what, "one") == 0 && rank == 1)) {
    return 0;
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
