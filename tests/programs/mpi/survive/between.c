// SPDX-License-Identifier: BSD-3-Clause
/* By `sinew run --survive`: two groups, and the last rank kills itself; both agree on who lives,
 * and go on between those. */
#include <mpi-ext.h>
#include <signal.h>

#include "../check.h"

static int rank, size;
static int side, dead_side;       /* 0: the even ranks, 1: the odd ones */
static int living_here, living_there;

static int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static void who_lives(void) {
  side = rank % 2;
  dead_side = (size - 1) % 2;
  const int of_side[2] = {(size + 1) / 2, size / 2};
  living_here = of_side[side] - (dead_side == side);
  living_there = of_side[1 - side] - (dead_side != side);
}

static MPI_Comm connect_sides(void) {
  MPI_Comm local, both;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - side, 7, &both);
  MPI_Comm_free(&local);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  return both;
}

static void messages_to_the_dead_end(MPI_Comm both) {
  int word = 0;
  if (side == dead_side) return;
  CHECK(class_of(MPI_Recv(&word, 1, MPI_INT, (size - 1) / 2, 0, both, MPI_STATUS_IGNORE)) ==
        MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Ssend(&word, 1, MPI_INT, (size - 1) / 2, 0, both)) == MPIX_ERR_PROC_FAILED);
}

/* A flag is what the other group has contributed; the dead are those of both. */
static void agree(MPI_Comm both, int own, int expected, int code) {
  int flag = own;
  CHECK(class_of(MPIX_Comm_agree(both, &flag)) == code);
  CHECK(living_there == 0 || flag == expected);
}

static void both_groups_agree(MPI_Comm both) {
  MPI_Group failed, world;
  int count = -1, first = 0, member = -1, acked = -1;
  agree(both, side == 0 ? 0x70 : 0x35, side == 0 ? 0x35 : 0x70, MPIX_ERR_PROC_FAILED);
  CHECK(MPIX_Comm_get_failed(both, &failed) == MPI_SUCCESS);
  MPI_Group_size(failed, &count);
  CHECK(count == 1);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(failed, 1, &first, world, &member);
  CHECK(member == size - 1);
  MPI_Group_free(&failed);
  MPI_Group_free(&world);
  CHECK(MPIX_Comm_ack_failed(both, size, &acked) == MPI_SUCCESS && acked == 1);
  for (int i = 0; i < 50; ++i) {
    agree(both, side == 0 ? 0x100 | i : 0x200 | i, side == 0 ? 0x200 | i : 0x100 | i, MPI_SUCCESS);
  }
}

/* More than one at a time, and another sort of agreement behind them. */
static void agreements_under_way(MPI_Comm both) {
  enum { many = 7 };
  MPI_Request request[many];
  int flag[many];
  for (int i = 0; i < many; ++i) {
    flag[i] = side == 0 ? 0x100 | i : 0x200 | i;
    CHECK(MPIX_Comm_iagree(both, &flag[i], &request[i]) == MPI_SUCCESS);
  }
  agree(both, side + 1, 2 - side, MPI_SUCCESS);
  CHECK(MPI_Waitall(many, request, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  for (int i = 0; i < many; ++i) {
    CHECK(living_there == 0 || flag[i] == ((side == 0 ? 0x200 : 0x100) | i));
  }
}

static void a_revocation_reaches_both(MPI_Comm both) {
  int word = 0, flag = 0;
  if (rank == 0) {
    CHECK(MPIX_Comm_revoke(both) == MPI_SUCCESS);
  } else if (living_there > 0) {
    CHECK(class_of(MPI_Recv(&word, 1, MPI_INT, 0, 5, both, MPI_STATUS_IGNORE)) == MPIX_ERR_REVOKED);
  }
  while (!flag) { /* Wait: for the word of rank 0, which may come by way of another rank */
    CHECK(MPIX_Comm_is_revoked(both, &flag) == MPI_SUCCESS);
  }
  CHECK(class_of(MPI_Barrier(both)) == MPIX_ERR_REVOKED);
  agree(both, 3, 3, MPI_SUCCESS);
}

/* One that is slow to hear what was agreed still does, though the others have the context for
 * something else by then. */
static void contexts_are_used_again(MPI_Comm comm) {
  for (int i = 0; i < 100; ++i) {
    MPI_Comm twin, own;
    int flag = i;
    MPI_Comm_dup(comm, &twin);
    CHECK(MPIX_Comm_agree(twin, &flag) == MPI_SUCCESS && flag == i);
    MPI_Comm_free(&twin);
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    CHECK(MPIX_Comm_agree(own, &flag) == MPI_SUCCESS && flag == i);
    MPI_Comm_free(&own);
  }
}

static void they_go_on(MPI_Comm between) {
  MPI_Comm merged;
  int here = -1, there = -1, inter = 0, one = 1, sum = 0;
  MPI_Comm_test_inter(between, &inter);
  MPI_Comm_size(between, &here);
  MPI_Comm_remote_size(between, &there);
  CHECK(inter && here == living_here && there == living_there);
  for (int i = 0; i < 10; ++i) {
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between) == MPI_SUCCESS && sum == there);
  }
  agree(between, side == 0 ? 4 : 8, side == 0 ? 8 : 4, MPI_SUCCESS);
  CHECK(MPI_Intercomm_merge(between, side, &merged) == MPI_SUCCESS);
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged) == MPI_SUCCESS && sum == size - 1);
  contexts_are_used_again(merged);
  MPI_Comm_free(&merged);
}

static void shrunk(MPI_Comm both) {
  MPI_Comm between;
  CHECK(MPIX_Comm_shrink(both, &between) == MPI_SUCCESS);
  CHECK((between == MPI_COMM_NULL) == (living_there == 0));
  if (between != MPI_COMM_NULL) {
    they_go_on(between);
    MPI_Comm_free(&between);
  }
}

static MPI_Group living(int begin, int step) {
  MPI_Group world, found;
  int range[1][3] = {{begin, size - 2, step}};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, range, &found);
  MPI_Group_free(&world);
  return found;
}

/* Groups of those that live make communicators; what the dead would take part in is an error. */
static void new_ones_without_the_dead(void) {
  MPI_Comm made;
  int n = 0;
  MPI_Group all = living(0, 1);
  CHECK(MPI_Comm_create_from_group(all, "living", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) ==
        MPI_SUCCESS);
  MPI_Comm_size(made, &n);
  CHECK(n == size - 1 && MPI_Barrier(made) == MPI_SUCCESS);
  MPI_Comm_free(&made);
  CHECK(MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &made) == MPI_SUCCESS);
  CHECK(MPI_Barrier(made) == MPI_SUCCESS);
  MPI_Comm_free(&made);
  MPI_Group_free(&all);
  if (size < 3) return;
  MPI_Group here = living(side, 2), there = living(1 - side, 2);
  CHECK(MPI_Intercomm_create_from_groups(here, 0, there, 0, "sides", MPI_INFO_NULL,
                                         MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
  they_go_on(made);
  MPI_Comm_free(&made);
  MPI_Group_free(&here);
  MPI_Group_free(&there);
}

static void with_the_dead_there_is_an_error(MPI_Comm both) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  CHECK(class_of(MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made)) ==
        MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Comm_create_group(MPI_COMM_WORLD, all, 4, &made)) == MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Comm_dup(MPI_COMM_WORLD, &made)) == MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made)) == MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Comm_dup(both, &made)) == MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Comm_split(both, 0, 0, &made)) == MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Intercomm_merge(both, 0, &made)) == MPIX_ERR_PROC_FAILED);
  CHECK(class_of(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, size - 1, 9, &made)) ==
        MPIX_ERR_PROC_FAILED);
  MPI_Request request;
  CHECK(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request) == MPI_SUCCESS);
  CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
  MPI_Group_free(&all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  who_lives();
  MPI_Comm both = connect_sides(), twin;
  MPI_Comm_dup(both, &twin);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) {
    raise(SIGKILL);
  }
  messages_to_the_dead_end(both);
  both_groups_agree(both);
  agreements_under_way(both);
  a_revocation_reaches_both(both);
  shrunk(both);
  new_ones_without_the_dead();
  with_the_dead_there_is_an_error(twin);
  MPI_Comm_free(&both);
  MPI_Comm_free(&twin);
  if (rank == 0) {
    printf("survived\n");
  }
  MPI_Finalize();
  return 0;
}
