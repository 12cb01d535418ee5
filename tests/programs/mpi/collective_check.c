// SPDX-License-Identifier: BSD-3-Clause
/* SINEW_MPI_CHECK: ranks that call different collectives, or one with different arguments, are told
 * so by an error that names a rank. */
#include "check.h"

static int rank, size;

static void agreeing_calls_run(void) {
  int mine = rank, sum = 0, *all = malloc(sizeof(int) * (size_t)size);
  MPI_Request request;
  for (int i = 0; i < 20; ++i) {
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Bcast(&sum, 1, MPI_INT, i % size, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request) ==
          MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && sum == size * (size - 1) / 2);
    CHECK(MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Allgather(&mine, 4, MPI_BYTE, all, 1, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(all[size - 1] == size - 1);
  }
  /* The forms of large and small counts match. */
  CHECK((rank == 0 ? MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD)
                   : MPI_Bcast_c(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD)) == MPI_SUCCESS);
  CHECK(MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &request) == MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    CHECK(MPI_Start(&request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
    CHECK(sum == size - 1);
  }
  MPI_Request_free(&request);
  free(all);
}

/* A nonblocking call does not wait for those of others. */
static void nonblocking_calls_stay_local(void) {
  int mine = 1, sum = 0, word = 0;
  MPI_Request request;
  if (rank == 0) {
    CHECK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request) == 0);
    for (int r = 1; r < size; ++r) {
      MPI_Send(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
    }
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request) == 0);
  }
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && sum == size);
}

static void overlaps_are_named(void) {
  enum { room = 64 };
  int a[room] = {0};
  MPI_Request request;
  MPI_Datatype evens;
  const MPI_Comm all = MPI_COMM_WORLD;
  const int last = size - 1, counts[8] = {1, 1, 1, 1, 1, 1, 1, 1},
            places[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  char text[100];
  snprintf(text, sizeof text, "of rank %d overlap in MPI_Allreduce", last);
  int* const mine = rank == last ? a : a + 2; /* the others' are two apart */
  EXPECT_ERROR(MPI_Allreduce(mine, a, 2, MPI_INT, MPI_SUM, all), MPI_ERR_BUFFER, text);
  EXPECT_ERROR(MPI_Allreduce(a + 1, a, 2, MPI_INT, MPI_SUM, all), MPI_ERR_BUFFER, "of rank 0");
  EXPECT_ERROR(MPI_Gather(a, 1, MPI_INT, a, 1, MPI_INT, last, all), MPI_ERR_BUFFER, "MPI_Gather");
  EXPECT_ERROR(MPI_Scatter(a, 1, MPI_INT, a, 1, MPI_INT, last, all), MPI_ERR_BUFFER, "Scatter");
  EXPECT_ERROR(MPI_Allgather(a + last, 1, MPI_INT, a, 1, MPI_INT, all), MPI_ERR_BUFFER, "gather");
  EXPECT_ERROR(MPI_Alltoall(a, 1, MPI_INT, a, 1, MPI_INT, all), MPI_ERR_BUFFER, "MPI_Alltoall");
  EXPECT_ERROR(MPI_Reduce(a, a, 1, MPI_INT, MPI_MAX, last, all), MPI_ERR_BUFFER, "MPI_Reduce");
  EXPECT_ERROR(MPI_Reduce_scatter_block(a + last, a, 1, MPI_INT, MPI_SUM, all) == MPI_SUCCESS
                   ? MPI_Reduce_scatter(a, a, counts, MPI_INT, MPI_SUM, all)
                   : MPI_Reduce_scatter_block(a, a, 1, MPI_INT, MPI_SUM, all),
               MPI_ERR_BUFFER, "MPI_Reduce_scatter");
  EXPECT_ERROR(MPI_Allgatherv(a + last, 1, MPI_INT, a, counts, places, MPI_INT, all),
               MPI_ERR_BUFFER, "MPI_Allgatherv");
  EXPECT_ERROR(MPI_Alltoallv(a, counts, places, MPI_INT, a, counts, places, MPI_INT, all),
               MPI_ERR_BUFFER, "MPI_Alltoallv");
  EXPECT_ERROR(MPI_Iallreduce(a, a, 1, MPI_INT, MPI_SUM, all, &request), MPI_ERR_BUFFER, "overlap");
  EXPECT_ERROR(MPI_Sendrecv(a, 2, MPI_INT, rank, 0, a + 1, 2, MPI_INT, rank, 0, all,
                            MPI_STATUS_IGNORE), MPI_ERR_BUFFER, "overlap");
  EXPECT_ERROR(MPI_Reduce_local(a, a, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "overlap");
  /* Where the types have gaps nothing is said: one may lie in the other's. */
  MPI_Type_vector(2, 1, 2, MPI_INT, &evens);
  MPI_Type_commit(&evens);
  CHECK(MPI_Allreduce(a, a + 1, 1, MPI_INT, MPI_SUM, all) == MPI_SUCCESS);
  CHECK(MPI_Sendrecv(a, 1, evens, rank, 0, a + 1, 1, evens, rank, 0, all, MPI_STATUS_IGNORE) ==
        MPI_SUCCESS);
  CHECK(MPI_Alltoall(MPI_IN_PLACE, 9, MPI_DATATYPE_NULL, a, 1, MPI_INT, all) == MPI_SUCCESS);
  MPI_Type_free(&evens);
}

/* Groups of different sizes; roots and amounts differ as they have to. */
static void calls_between_groups(void) {
  MPI_Comm half, between;
  int word = 5;
  const int second = rank != 0;
  MPI_Comm_split(MPI_COMM_WORLD, second, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, second ? 0 : 1, 3, &between);
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  CHECK(MPI_Barrier(between) == MPI_SUCCESS);
  CHECK(MPI_Bcast(&word, 1, MPI_INT, second ? 0 : MPI_ROOT, between) == MPI_SUCCESS && word == 5);
  EXPECT_ERROR(second ? MPI_Barrier(between) : MPI_Bcast(&word, 1, MPI_INT, MPI_ROOT, between),
               MPI_ERR_OTHER, "the ranks' collectives differ");
  CHECK(MPI_Barrier(between) == MPI_SUCCESS);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

static void differences_are_named(void) {
  int a[4] = {0}, b[4] = {0};
  const int last = rank == size - 1;
  char text[200];
  snprintf(text, sizeof text,
           "rank %d calls MPI_Bcast with root 1, rank 0 calls MPI_Bcast with root 0", size - 1);
  EXPECT_ERROR(MPI_Bcast(a, 1, MPI_INT, last, MPI_COMM_WORLD), MPI_ERR_ROOT, text);
  EXPECT_ERROR(MPI_Allreduce(a, b, 1 + last, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT,
               "with 8 bytes, rank 0 calls MPI_Allreduce with 4 bytes");
  EXPECT_ERROR(MPI_Allreduce(a, b, 1, MPI_INT, last ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD),
               MPI_ERR_OP, "the ranks' collectives differ");
  EXPECT_ERROR(MPI_Allreduce(a, b, 1, last ? MPI_FLOAT : MPI_INT, MPI_SUM, MPI_COMM_WORLD),
               MPI_ERR_TYPE, "with data of kind");
  snprintf(text, sizeof text, "rank %d calls MPI_Barrier, rank 0 calls MPI_Reduce", size - 1);
  EXPECT_ERROR(
      last ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
      MPI_ERR_OTHER, text);
  EXPECT_ERROR(MPI_Gather(a, 1 + last, MPI_INT, a, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS
                   ? MPI_SUCCESS
                   : MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, a, last, MPI_INT, MPI_COMM_WORLD),
               MPI_ERR_COUNT, "MPI_Alltoall");
}

/* Of calls that are not waited for all hear at the next one that is. */
static void differences_of_nonblocking_calls(void) {
  int a = rank, b = 0;
  MPI_Request request;
  CHECK(MPI_Iallreduce(&a, &b, 1, MPI_INT, rank == 1 ? MPI_MAX : MPI_MIN, MPI_COMM_WORLD,
                       &request) == MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_ERROR(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_OP, "rank 1 calls MPI_Iallreduce");
  CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
}

/* Rank 0 waits for nobody, and the others for its word. */
static void blocking_calls_that_meet_a_nonblocking_one(void) {
  int word = 7;
  MPI_Comm twin;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  if (rank == 0) {
    CHECK(MPI_Ibcast(&word, 1, MPI_INT, 0, twin, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  } else {
    EXPECT_ERROR(MPI_Barrier(twin), MPI_ERR_OTHER,
                 "rank 1 calls MPI_Barrier, rank 0 calls MPI_Ibcast");
  }
  CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
  EXPECT_ERROR(MPI_Barrier(twin), MPI_ERR_OTHER, "rank 0 calls MPI_Ibcast");
  MPI_Comm_free(&twin);
}

int main(int argc, char** argv) {
  setenv("SINEW_MPI_CHECK", "1", 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  agreeing_calls_run();
  nonblocking_calls_stay_local();
  overlaps_are_named();
  if (size > 1) {
    calls_between_groups();
    differences_are_named();
    differences_of_nonblocking_calls();
    blocking_calls_that_meet_a_nonblocking_one();
  }
  MPI_Finalize();
  return 0;
}
