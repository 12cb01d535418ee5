// SPDX-License-Identifier: BSD-3-Clause
/* Very many receives that wait at once, each of a fiber that MPI_Recv suspends: all are there
   before anything is sent, and what comes then, in another order, finds each its own. Ranks in
   pairs, of different hosts if there are two. The argument: how many in each rank (10000). */
#include <sinew.h>
#include <stdatomic.h>

#include "check.h"

static int rank, size, partner;
static atomic_long waiting, received;

static int value_of(int sender, long index) { return (int)(index * 31 + sender); }

static void receive(void* argument) {
  const long index = (long)(size_t)argument;
  int value = -1;
  ++waiting;  // nothing suspends between here and the receive
  MPI_Status status;
  MPI_Recv(&value, 1, MPI_INT, partner, (int)index, MPI_COMM_WORLD, &status);
  CHECK(value == value_of(partner, index) && status.MPI_TAG == index);
  ++received;
}

int main(int argc, char** argv) {
  enum { stride = 7919 };  // a prime, so that all are reached
  const long count = argc > 1 ? atol(argv[1]) : 10000;
  const struct sinew_start_options one = {.workers = 1};
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE && count % stride != 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size % 2 == 0);
  partner = (rank + size / 2) % size;
  CHECK(sinew_start(&one) == SINEW_OK);
  const struct sinew_fiber_options alone = {.detached = 1};
  for (long i = 0; i < count; ++i) {
    CHECK(sinew_fiber_create(NULL, receive, (void*)(size_t)i, &alone) == SINEW_OK);
  }
  while (waiting != count) {
    sinew_fiber_yield();
  }
  CHECK(received == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (long n = 0; n < count; ++n) {
    const long index = n * stride % count;
    const int value = value_of(rank, index);
    MPI_Send(&value, 1, MPI_INT, partner, (int)index, MPI_COMM_WORLD);
  }
  CHECK(sinew_stop() == SINEW_OK);  // which waits for all fibers
  CHECK(received == count);
  MPI_Finalize();
  if (rank == 0) printf("%ld receives waited in each of %d ranks\n", count, size);
  return 0;
}
