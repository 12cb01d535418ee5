// SPDX-License-Identifier: BSD-3-Clause
/* Nonblocking and persistent collectives that are under way together: many at once, completed in
 * other orders than begun, across blocking ones, with operations and datatypes freed meanwhile.
 * Any rank count. */
#include "check.h"

static int rank, size;

/* Every rank completes them in an order of its own. */
static void many(int n) {
  MPI_Request* r = (MPI_Request*)malloc(sizeof(MPI_Request) * (size_t)n);
  int* sums = (int*)malloc(sizeof(int) * (size_t)n);
  int* own = (int*)malloc(sizeof(int) * (size_t)n);
  for (int i = 0; i < n; ++i) {
    own[i] = rank + i;
    if (i % 3 == 0) {
      MPI_Ibarrier(MPI_COMM_WORLD, &r[i]);
    } else if (i % 3 == 1) {
      MPI_Iallreduce(&own[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[i]);
    } else {
      sums[i] = rank == i % size ? i : -1;
      MPI_Ibcast(&sums[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, &r[i]);
    }
  }
  int everybody = 0;
  MPI_Allreduce(&rank, &everybody, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);  /* blocks meanwhile */
  CHECK(everybody == size * (size - 1) / 2);
  for (int i = 0; i < n; ++i) {
    MPI_Status status;
    const int at = rank % 2 ? n - 1 - i : i;
    MPI_Wait(&r[at], &status);
    CHECK(r[at] == MPI_REQUEST_NULL && status.MPI_SOURCE == MPI_ANY_SOURCE);
  }
  for (int i = 0; i < n; ++i) {
    if (i % 3 == 1) CHECK(sums[i] == size * (size - 1) / 2 + i * size);
    if (i % 3 == 2) CHECK(sums[i] == i);
  }
  free(r), free(sums), free(own);
}

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  CHECK(bytes == 8);
  for (int i = 0; i < 2 * *n; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* What a call has named may be freed before it ends. */
static void freed_meanwhile(void) {
  MPI_Datatype two;
  MPI_Op op;
  MPI_Comm comm;
  MPI_Request r[3];
  int sum[2], own[2], all[2], token = rank == 0;
  own[0] = rank;
  own[1] = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  MPI_Op_create(add, 1, &op);
  MPI_Iallreduce(own, sum, 1, two, op, comm, &r[0]);
  MPI_Iscan(own, all, 1, two, op, comm, &r[1]);
  MPI_Ibcast(&token, 1, MPI_INT, 0, comm, &r[2]);
  MPI_Op_free(&op);
  MPI_Type_free(&two);
  MPI_Comm_free(&comm);
  MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
  CHECK(sum[0] == size * (size - 1) / 2 && sum[1] == size && token == 1);
  CHECK(all[0] == rank * (rank + 1) / 2 && all[1] == rank + 1);
}

/* Started in orders that differ from rank to rank, many times. */
static void persistent(void) {
  MPI_Request r[4];
  int x = 0, sum = 0, all[64], token = 0, flag;
  MPI_Allreduce_init(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Allgather_init(&x, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Bcast_init(&token, 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[3]);
  MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
  CHECK(flag && r[0] != MPI_REQUEST_NULL);  /* inactive */
  for (int round = 0; round < 1000; ++round) {
    x = rank + round;
    token = rank == size - 1 ? round : -1;
    for (int i = 0; i < 4; ++i) MPI_Start(&r[(i + rank) % 4]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    CHECK(sum == size * (size - 1) / 2 + size * round && token == round);
    for (int i = 0; i < size; ++i) CHECK(all[i] == i + round);
  }
  for (int i = 0; i < 4; ++i) MPI_Request_free(&r[i]);
}

/* MPI_Ibarrier and synchronous sends: who knows when everybody has got everything. */
static void consensus(void) {
  MPI_Request sent, over = MPI_REQUEST_NULL;
  int got = 0, word = rank, done = 0;
  MPI_Issend(&word, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &sent);
  while (!done) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &there, &status);
    if (there) {
      int from;
      MPI_Recv(&from, 1, MPI_INT, status.MPI_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(from == (rank + size - 1) % size);
      ++got;
    }
    if (over != MPI_REQUEST_NULL) {
      MPI_Test(&over, &done, MPI_STATUS_IGNORE);
    } else {
      int left = 0;
      MPI_Test(&sent, &left, MPI_STATUS_IGNORE);
      if (left) MPI_Ibarrier(MPI_COMM_WORLD, &over);
    }
  }
  CHECK(got == 1);
}

static void refusals(void) {
  MPI_Request r;
  int x = 1, y = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);  /* of calls without communicator */
  EXPECT_ERROR(MPI_Ibcast(&x, 1, MPI_INT, size, MPI_COMM_WORLD, &r), MPI_ERR_ROOT, "root");
  EXPECT_ERROR(MPI_Iallreduce(&x, &y, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r), MPI_ERR_COUNT,
               "-1");
  EXPECT_ERROR(MPI_Iallreduce(&x, &y, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD, &r), MPI_ERR_OP,
               "not defined");
  MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
  EXPECT_ERROR(MPI_Cancel(&r), MPI_ERR_REQUEST, "cannot be cancelled");
  EXPECT_ERROR(MPI_Request_free(&r), MPI_ERR_REQUEST, "cannot be freed");
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  CHECK(y == size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  many(10);
  many(10000);
  freed_meanwhile();
  persistent();
  consensus();
  refusals();
  MPI_Finalize();
  return 0;
}
