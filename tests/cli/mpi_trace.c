// SPDX-License-Identifier: BSD-3-Clause
/* Rank 0 waits in several calls for rank 1, which is late each time; some collectives come before,
   as from then on they go over shared memory. */
#include <mpi.h>
#include <unistd.h>

static int rank;

static void late(void) {
  if (rank == 1) usleep(30000);
}

int main(int argc, char** argv) {
  int value = 1, sum;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  late();
  if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  late();
  MPI_Irecv(&sum, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &request);
  MPI_Send(&value, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  late();
  MPI_Barrier(MPI_COMM_WORLD);
  late();
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum != 2;
}
