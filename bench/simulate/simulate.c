// SPDX-License-Identifier: BSD-3-Clause
/* What is simulated: five times an allreduce of 8 bytes and a shift of 1 KiB around the ring of
 * ranks. Rank 0 says how long that took in the time that it sees. */
#include <mpi.h>
#include <stdio.h>

enum { times = 5, shifted = 1024 };

int main(int argc, char** argv) {
  int rank, size;
  static char here[shifted], there[shifted];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double began = MPI_Wtime();
  for (int i = 0; i < times; ++i) {
    double one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size) {
      fprintf(stderr, "rank %d: the sum is %g and not %d\n", rank, sum, size);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Sendrecv(here, shifted, MPI_CHAR, (rank + 1) % size, 0, there, shifted, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0) {
    fprintf(stderr, "%.3f us seen\n", (MPI_Wtime() - began) * 1e6);
  }
  MPI_Finalize();
  return 0;
}
