// SPDX-License-Identifier: BSD-3-Clause
/* A little of everything that allocates: unexpected, long, strided and probed messages,
   collectives, communicators, types. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { long_message = 200000, many = 40 };
static int from[long_message], into[long_message];

static int messages(MPI_Comm comm, int rank, int size) {
  const int to = (rank + 1) % size, back = (rank + size - 1) % size;
  MPI_Request all[2 * many];
  int bad = 0;
  for (int i = 0; i < many; ++i) {
    from[i] = rank * 1000 + i;
    MPI_Isend(&from[i], 1, MPI_INT, to, i, comm, &all[i]);
  }
  MPI_Barrier(comm); /* so that they are unexpected */
  for (int i = many; i-- > 0;) MPI_Irecv(&into[i], 1, MPI_INT, back, i, comm, &all[many + i]);
  MPI_Waitall(2 * many, all, MPI_STATUSES_IGNORE);
  for (int i = 0; i < many; ++i) bad += into[i] != back * 1000 + i;

  static const int lengths[] = {100, 3000, 20000, long_message};
  for (int i = 0; i < 4; ++i) {
    memset(into, 0, sizeof into);
    from[lengths[i] - 1] = rank + 7;
    MPI_Isend(from, lengths[i], MPI_INT, to, 50, comm, &all[0]);
    MPI_Message m;
    MPI_Status s;
    if (i % 2 == 0) {
      MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &m, &s);
      MPI_Mrecv(into, lengths[i], MPI_INT, &m, &s);
    } else {
      MPI_Recv(into, lengths[i], MPI_INT, MPI_ANY_SOURCE, 50, comm, &s);
    }
    MPI_Wait(&all[0], MPI_STATUS_IGNORE);
    bad += into[lengths[i] - 1] != back + 7;
  }
  MPI_Datatype column;
  MPI_Type_vector(300, 1, 100, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Sendrecv(from, 1, column, to, 60, into, 1, column, back, 60, comm, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
  return bad;
}

int main(int argc, char** argv) {
#if defined(THREADS)
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
#else
  MPI_Init(&argc, &argv);
#endif
  int rank, size, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bad += messages(MPI_COMM_WORLD, rank, size);
  MPI_Comm copy, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  bad += messages(copy, rank, size);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
  bad += sum != size * (size - 1) / 2;
  MPI_Bcast(from, 5000, MPI_INT, 0, copy);
  MPI_Gather(&rank, 1, MPI_INT, into, 1, MPI_INT, 0, copy);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  int all_bad = 0;
  MPI_Reduce(&bad, &all_bad, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", all_bad == 0 ? "good" : "wrong");
  MPI_Finalize();
  return 0;
}
