// SPDX-License-Identifier: BSD-3-Clause
/* By `sinew run --survive`: the last rank kills itself, or with the word "paused" waits until
 * somebody ends its host; the others learn of it in what they do with it, agree, and go on without
 * it. */
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

#include "../check.h"

static int rank, size;

static int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/* All of these wait for the one that has died. */
static void collectives_fail(MPI_Comm comm) {
  int one = 1, sum = 0, code = 0;
  MPI_Request request;
  CHECK(class_of(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm)) == MPIX_ERR_PROC_FAILED);
  code = MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  CHECK(class_of(code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE)) ==
        MPIX_ERR_PROC_FAILED);
}

static void operations_with_the_dead_end(MPI_Comm comm) {
  static char bytes[1 << 20];
  char text[MPI_MAX_ERROR_STRING];
  int value = 0, length = 0;
  MPI_Request request;
  CHECK(class_of(MPI_Recv(&value, 1, MPI_INT, size - 1, 0, comm, MPI_STATUS_IGNORE)) ==
        MPIX_ERR_PROC_FAILED);
  MPI_Error_string(MPIX_ERR_PROC_FAILED, text, &length);
  CHECK(strstr(text, "MPIX_ERR_PROC_FAILED") != NULL);
  CHECK(class_of(MPI_Send(bytes, sizeof bytes, MPI_BYTE, size - 1, 0, comm)) ==
        MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Ssend(&value, 1, MPI_INT, size - 1, 0, comm)) == MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Probe(size - 1, 0, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
  MPI_Irecv(&value, 1, MPI_INT, size - 1, 0, comm, &request);
  CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, comm, MPI_STATUS_IGNORE)) ==
        MPIX_ERR_PROC_FAILED);
}

static void the_dead_are_told(MPI_Comm comm) {
  MPI_Group failed, all;
  int count = 0, first = 0, member = -1, acked = -1;
  CHECK(MPIX_Comm_get_failed(comm, &failed) == MPI_SUCCESS);
  MPI_Group_size(failed, &count);
  CHECK(count == 1);
  MPI_Comm_group(comm, &all);
  MPI_Group_translate_ranks(failed, 1, &first, all, &member);
  CHECK(member == size - 1);
  MPI_Group_free(&failed);
  MPI_Group_free(&all);
  CHECK(MPIX_Comm_ack_failed(comm, 0, &acked) == MPI_SUCCESS && acked == 0);
  CHECK(MPIX_Comm_ack_failed(comm, size, &acked) == MPI_SUCCESS && acked == 1);
}

static void survivors_agree(MPI_Comm comm) {
  for (int i = 0; i < 50; ++i) {
    int flag = rank == 0 ? 0x0f0 | i : 0xff0 | i;
    MPI_Request request;
    CHECK(MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag == (0x0f0 | i));
    flag = rank == 0 ? 6 : 3;
    CHECK(MPIX_Comm_iagree(comm, &flag, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(flag == (size == 2 ? 6 : 2));
  }
}

static void they_go_on(MPI_Comm comm) {
  MPI_Comm smaller;
  int n = 0, r = -1, sum = 0, flag = 0;
  if (rank == 0) {
    CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS);
  }
  if (rank != 0) {
    CHECK(class_of(MPI_Recv(&sum, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_REVOKED);
  }
  CHECK(class_of(MPI_Barrier(comm)) == MPIX_ERR_REVOKED || size == 2);
  CHECK(MPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && flag);
  CHECK(MPIX_Comm_shrink(comm, &smaller) == MPI_SUCCESS);
  MPI_Comm_size(smaller, &n);
  MPI_Comm_rank(smaller, &r);
  CHECK(n == size - 1 && r == rank);
  for (int i = 0; i < 20; ++i) {
    CHECK(MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, smaller) == MPI_SUCCESS);
    CHECK(sum == n * (n - 1) / 2);
  }
  MPI_Comm_free(&smaller);
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 5; ++i) {
    MPI_Barrier(comm);  /* without --survive they would go over memory by now */
  }
  if (rank == size - 1 && argc > 1 && strcmp(argv[1], "paused") == 0) {
    printf("paused\n");
    fflush(stdout);
    while (1) {
      pause();
    }
  }
  if (rank == size - 1) {
    raise(SIGKILL);
  }
  collectives_fail(comm);
  operations_with_the_dead_end(comm);
  the_dead_are_told(comm);
  survivors_agree(comm);
  they_go_on(comm);
  MPI_Comm_free(&comm);
  if (rank == 0) {
    printf("survived\n");
  }
  MPI_Finalize();
  return 0;
}
