// SPDX-License-Identifier: BSD-3-Clause
/* Revoked communicators, and what survives in a job where nobody dies. */
#include <mpi-ext.h>

#include "check.h"

static void revoked_calls_fail(MPI_Comm of) {
  MPI_Comm comm;
  int flag = -1, size = 0, word = 0;
  MPI_Comm_dup(of, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(MPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && !flag);
  MPI_Barrier(of);
  CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS);
  CHECK(MPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && flag);
  EXPECT_ERROR(MPI_Barrier(comm), MPIX_ERR_REVOKED, "revoked");
  EXPECT_ERROR(MPI_Send(&word, 0, MPI_INT, MPI_PROC_NULL, 0, comm), MPIX_ERR_REVOKED, "revoked");
  EXPECT_ERROR(MPI_Recv(&word, 0, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE),
               MPIX_ERR_REVOKED, "revoked");
  CHECK(MPI_Comm_size(comm, &size) == MPI_SUCCESS && size > 0);
  CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
}

static void receives_under_way_end(void) {
  MPI_Comm comm;
  int rank, word = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS);
  } else {
    EXPECT_ERROR(MPI_Recv(&word, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED,
                 "revoked");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

static void nobody_has_died(MPI_Comm of) {
  MPI_Comm comm, shrunk;
  MPI_Group failed;
  MPI_Request request;
  int flag, acked = -1, count = -1, before, after, rank;
  MPI_Comm_dup(of, &comm);
  CHECK(MPIX_Comm_get_failed(comm, &failed) == MPI_SUCCESS);
  MPI_Group_size(failed, &count);
  CHECK(count == 0);
  MPI_Group_free(&failed);
  CHECK(MPIX_Comm_ack_failed(comm, 3, &acked) == MPI_SUCCESS && acked == 0);
  MPI_Comm_rank(comm, &rank);
  flag = rank == 0 ? 6 : 7;
  CHECK(MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag == 6);
  flag = 5;
  CHECK(MPIX_Comm_iagree(comm, &flag, &request) == MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(flag == 5);
  CHECK(MPIX_Comm_shrink(comm, &shrunk) == MPI_SUCCESS);
  MPI_Comm_size(comm, &before);
  MPI_Comm_size(shrunk, &after);
  CHECK(before == after);
  MPI_Comm_free(&shrunk);
  CHECK(MPIX_Comm_ishrink(comm, &shrunk, &request) == MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&shrunk);
  MPI_Comm_free(&comm);
}

/* Between two groups each gets what the other has contributed. */
static void two_groups_agree(void) {
  int rank, size, flag;
  MPI_Comm half, pair;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) {
    return;
  }
  const int left = rank < size / 2;
  MPI_Comm_split(MPI_COMM_WORLD, left, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? size / 2 : 0, 3, &pair);
  for (int round = 0; round < 3; ++round) {
    flag = left ? 11 : 13;
    CHECK(MPIX_Comm_agree(pair, &flag) == MPI_SUCCESS && flag == (left ? 13 : 11));
    flag = left ? 6 : 5;
    CHECK(MPIX_Comm_iagree(pair, &flag, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == (left ? 5 : 6));
  }
  MPI_Comm_free(&pair);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  revoked_calls_fail(MPI_COMM_SELF);
  revoked_calls_fail(MPI_COMM_WORLD);
  receives_under_way_end();
  nobody_has_died(MPI_COMM_SELF);
  nobody_has_died(MPI_COMM_WORLD);
  two_groups_agree();
  MPI_Finalize();
  return 0;
}
