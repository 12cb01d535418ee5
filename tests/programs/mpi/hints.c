// SPDX-License-Identifier: BSD-3-Clause
/* Hints of communicators: how matching is chosen, what is promised, and what is told of both. */
#include "check.h"

enum { crowd = 500 };
static int rank;

static int has(MPI_Comm comm, const char* key, const char* value) {
  MPI_Info used;
  char text[MPI_MAX_INFO_VAL + 1];
  int flag = 0, length = sizeof text;
  MPI_Comm_get_info(comm, &used);
  MPI_Info_get_string(used, key, &length, text, &flag);
  MPI_Info_free(&used);
  return flag && strcmp(text, value) == 0;
}

static void set(MPI_Comm comm, const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  CHECK(MPI_Comm_set_info(comm, info) == MPI_SUCCESS);
  MPI_Info_free(&info);
}

static int keys_of(MPI_Comm comm) {
  MPI_Info used;
  int count = 0;
  MPI_Comm_get_info(comm, &used);
  MPI_Info_get_nkeys(used, &count);
  MPI_Info_free(&used);
  return count;
}

static void told(void) {
  MPI_Comm with, copy;
  MPI_Info info;
  const int standard = keys_of(MPI_COMM_WORLD);
  CHECK(has(MPI_COMM_WORLD, "mpi_assert_no_any_tag", "false"));
  CHECK(has(MPI_COMM_WORLD, "mpi_assert_no_any_source", "false"));
  CHECK(has(MPI_COMM_WORLD, "mpi_assert_exact_length", "false"));
  CHECK(has(MPI_COMM_WORLD, "mpi_assert_allow_overtaking", "false"));
  CHECK(has(MPI_COMM_WORLD, "sinew_match_engine", "hash"));
  CHECK(has(MPI_COMM_WORLD, "mpi_memory_alloc_kinds", "mpi,system"));
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Info_set(info, "sinew_match_engine", "bins64");
  MPI_Info_set(info, "unheard_of", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &with);
  MPI_Info_free(&info);
  CHECK(has(with, "mpi_assert_no_any_tag", "true"));
  CHECK(has(with, "sinew_match_engine", "bins64"));
  CHECK(keys_of(with) == standard); /* an unknown hint is ignored */
  CHECK(has(MPI_COMM_WORLD, "sinew_match_engine", "hash"));
  set(with, "mpi_assert_exact_length", "true"); /* the others stay */
  set(with, "mpi_assert_memory_alloc_kinds", "cuda"); /* there is no such kind */
  CHECK(keys_of(with) == standard);
  set(with, "mpi_assert_memory_alloc_kinds", "system");
  CHECK(has(with, "mpi_assert_memory_alloc_kinds", "system"));
  CHECK(has(with, "mpi_assert_exact_length", "true"));
  CHECK(has(with, "mpi_assert_no_any_tag", "true"));
  CHECK(has(with, "sinew_match_engine", "bins64"));
  set(with, "mpi_assert_exact_length", "perhaps"); /* no boolean, no engine: ignored */
  set(with, "sinew_match_engine", "tree");
  CHECK(has(with, "mpi_assert_exact_length", "true"));
  CHECK(has(with, "sinew_match_engine", "bins64"));
  MPI_Comm_dup(with, &copy); /* since MPI-4.0 a copy has no hints */
  CHECK(has(copy, "mpi_assert_no_any_tag", "false"));
  CHECK(has(copy, "sinew_match_engine", "hash"));
  MPI_Comm_free(&copy);
  MPI_Comm_free(&with);
}

static void kept_to(void) {
  MPI_Comm comm;
  int x = 0;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  set(comm, "mpi_assert_no_any_source", "true");
  EXPECT_ERROR(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &request), MPI_ERR_RANK,
               "mpi_assert_no_any_source");
  EXPECT_ERROR(MPI_Iprobe(MPI_ANY_SOURCE, 3, comm, &x, MPI_STATUS_IGNORE), MPI_ERR_RANK,
               "mpi_assert_no_any_source");
  MPI_Irecv(&x, 1, MPI_INT, rank, MPI_ANY_TAG, comm, &request); /* not promised */
  MPI_Send(&rank, 1, MPI_INT, rank, 9, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(x == rank);
  set(comm, "mpi_assert_no_any_tag", "true");
  EXPECT_ERROR(MPI_Recv(&x, 1, MPI_INT, rank, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE), MPI_ERR_TAG,
               "mpi_assert_no_any_tag");
  EXPECT_ERROR(MPI_Recv_init(&x, 1, MPI_INT, rank, MPI_ANY_TAG, comm, &request), MPI_ERR_TAG,
               "mpi_assert_no_any_tag");
  set(comm, "mpi_assert_no_any_tag", "false"); /* taken back */
  MPI_Sendrecv(&rank, 1, MPI_INT, rank, 4, &x, 1, MPI_INT, rank, MPI_ANY_TAG, comm,
               MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
}

/* The engine without wildcards is there for those who promise to use none. */
static void without_wildcards(void) {
  MPI_Comm comm;
  MPI_Info info;
  int x = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  set(comm, "sinew_match_engine", "table");
  CHECK(has(comm, "sinew_match_engine", "hash")); /* nothing is promised */
  MPI_Comm_free(&comm);
  MPI_Info_create(&info);
  MPI_Info_set(info, "sinew_match_engine", "table");
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Info_set(info, "mpi_assert_no_any_source", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Info_free(&info);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(has(comm, "sinew_match_engine", "table"));
  for (int i = 0; i < crowd; ++i) MPI_Send(&i, 1, MPI_INT, rank, i / 2, comm);
  for (int i = crowd; i-- > 0;) {
    MPI_Recv(&x, 1, MPI_INT, rank, i / 2, comm, MPI_STATUS_IGNORE);
    CHECK(x == (i ^ 1)); /* of two with one tag the elder first */
  }
  EXPECT_ERROR(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK,
               "mpi_assert_no_any_source");
  set(comm, "mpi_assert_no_any_tag", "false"); /* taken back: wildcards again */
  CHECK(has(comm, "sinew_match_engine", "hash"));
  MPI_Send(&rank, 1, MPI_INT, rank, 7, comm);
  MPI_Recv(&x, 1, MPI_INT, rank, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
  CHECK(x == rank);
  MPI_Comm_free(&comm);
}

/* Receives and messages that wait while the engine is replaced are matched as before. */
static void replaced_under_way(const char* engine) {
  static int in[crowd], out[2 * crowd];
  static MPI_Request receives[crowd];
  MPI_Comm comm;
  MPI_Status status;
  int x = 0, flag = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < crowd; ++i) {
    MPI_Irecv(&in[i], 1, MPI_INT, i % 7 == 0 ? MPI_ANY_SOURCE : rank, i / 3, comm, &receives[i]);
  }
  for (int i = 0; i < crowd; ++i) { /* three of each tag, unexpected */
    out[i] = i;
    MPI_Send(&out[i], 1, MPI_INT, rank, 100000 + i / 3, comm);
  }
  while (!flag) {
    MPI_Iprobe(rank, 100000 + (crowd - 1) / 3, comm, &flag, MPI_STATUS_IGNORE);
  }
  set(comm, "sinew_match_engine", engine);
  CHECK(has(comm, "sinew_match_engine", engine));
  for (int i = 0; i < crowd; ++i) {
    out[crowd + i] = 2 * i;
    MPI_Send(&out[crowd + i], 1, MPI_INT, rank, i / 3, comm);
  }
  MPI_Waitall(crowd, receives, MPI_STATUSES_IGNORE);
  for (int i = 0; i < crowd; ++i) CHECK(in[i] == 2 * i);
  for (int i = 0; i < crowd; ++i) { /* in the order in which they were sent, by any wildcard */
    MPI_Recv(&x, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : rank, i % 3 ? 100000 + i / 3 : MPI_ANY_TAG,
             comm, &status);
    CHECK(x == i && status.MPI_TAG == 100000 + i / 3);
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  static const char* engines[] = {"list", "bins64", "bins1021", "lookup4d", "vector", "hash"};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  told();
  kept_to();
  without_wildcards();
  for (int i = 0; i < 6; ++i) replaced_under_way(engines[i]);
  MPI_Finalize();
  return 0;
}
