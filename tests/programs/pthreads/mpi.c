// SPDX-License-Identifier: BSD-3-Clause
// Threads that call MPI: each of one rank sends to its partner in the other and waits for the
// answer, so all of them wait most of the time.
#include <mpi.h>
#include <pthread.h>
#include <string.h>

#include "check.h"

enum { threads = 32, rounds = 200 };

static int rank, size;

static void* talk(void* number) {
  const int tag = (int)(long)number;
  char buffer[64];
  for (int round = 0; round < rounds; ++round) {
    memset(buffer, tag + round, sizeof buffer);
    if (rank == 0) {
      MPI_Send(buffer, sizeof buffer, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
      MPI_Recv(buffer, sizeof buffer, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(buffer[0] == (char)(tag + round + 1) && buffer[63] == buffer[0]);
    } else if (rank == 1) {
      MPI_Recv(buffer, sizeof buffer, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(buffer[0] == (char)(tag + round) && buffer[63] == buffer[0]);
      memset(buffer, buffer[0] + 1, sizeof buffer);
      MPI_Send(buffer, sizeof buffer, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
    }
  }
  return number;
}

int main(int argc, char** argv) {
  int provided = 0;
  CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size >= 2);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  pthread_t thread[threads];
  for (long i = 0; i < threads; ++i)
    CHECK(pthread_create(&thread[i], NULL, talk, (void*)i) == 0);
  for (int i = 0; i < threads; ++i) CHECK(pthread_join(thread[i], NULL) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d threads, %.2f us a message\n", threads,
           (MPI_Wtime() - begun) * 1e6 / (2.0 * threads * rounds));
  MPI_Finalize();
}
