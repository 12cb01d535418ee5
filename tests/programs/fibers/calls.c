// SPDX-License-Identifier: BSD-3-Clause
/* Fibers inside MPI calls at the same time: many collectives under way on one worker or several,
   and an error that names the call in which it happened, not the one that another fiber made
   meanwhile. The argument: workers per rank. */
#include <sinew.h>

#include "check.h"

enum { fibers = 24, rounds = 20, most_ranks = 8 };

struct job {
  MPI_Comm comm;
  int number;
};

static void gather_and_scatter(const struct job* j, int rank, int size, int round) {
  const int root = (j->number + round) % size;
  int all[most_ranks], mine = rank * 1000 + j->number, got = -1;
  MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, j->comm);
  if (rank == root) {
    for (int r = 0; r < size; ++r) {
      CHECK(all[r] == r * 1000 + j->number);
      all[r] += round;
    }
  }
  MPI_Scatter(all, 1, MPI_INT, &got, 1, MPI_INT, root, j->comm);
  CHECK(got == mine + round);
}

static void reduce_and_share(const struct job* j, int rank, int size, int round) {
  const int root = (j->number + 2 * round) % size;
  int value = rank == root ? round * 100 + j->number : -1, sum = -1, prefix = -1;
  int from[most_ranks], to[most_ranks];
  MPI_Bcast(&value, 1, MPI_INT, root, j->comm);
  CHECK(value == round * 100 + j->number);
  value += rank;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, j->comm);
  CHECK(sum == size * (round * 100 + j->number) + size * (size - 1) / 2);
  MPI_Scan(&value, &prefix, 1, MPI_INT, MPI_MAX, j->comm);
  CHECK(prefix == value);
  for (int r = 0; r < size; ++r) to[r] = rank * 10000 + r * 100 + j->number;
  MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, j->comm);
  for (int r = 0; r < size; ++r) CHECK(from[r] == r * 10000 + rank * 100 + j->number);
}

static void collect(void* argument) {
  const struct job* j = argument;
  int rank, size;
  MPI_Comm_rank(j->comm, &rank);
  MPI_Comm_size(j->comm, &size);
  for (int round = 0; round < rounds; ++round) {
    if ((round + rank) % 3 == 0) sinew_fiber_yield();
    MPI_Barrier(j->comm);
    gather_and_scatter(j, rank, size, round);
    reduce_and_share(j, rank, size, round);
  }
}

static int receiving = 0;

static void receive_too_much(void* unused) {
  int room = 0;
  (void)unused;
  receiving = 1;
  EXPECT_ERROR(MPI_Recv(&room, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE),
               MPI_ERR_TRUNCATE, "here: MPI_Recv: ");
}

static void send_too_much(void* unused) {
  int two[2] = {1, 2}, size = 0;
  (void)unused;
  while (!receiving) sinew_fiber_yield(); /* on the same worker: then it waits inside */
  MPI_Send(two, 2, MPI_INT, 0, 5, MPI_COMM_SELF);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static void errors_name_their_own_call(void) {
  const struct sinew_fiber_options here = {.worker_plus_one = 1};
  sinew_fiber* pair[2];
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(sinew_fiber_create(&pair[0], receive_too_much, NULL, &here) == SINEW_OK);
  CHECK(sinew_fiber_create(&pair[1], send_too_much, NULL, &here) == SINEW_OK);
  sinew_fiber_join(pair[0]);
  sinew_fiber_join(pair[1]);
}

int main(int argc, char** argv) {
  struct sinew_start_options how = {.workers = argc > 1 ? atoi(argv[1]) : 1};
  struct job jobs[fibers];
  sinew_fiber* running[fibers];
  int level = 0, size = 0;
  MPI_Init_thread(&argc, &argv, how.workers > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size <= most_ranks);
  CHECK(sinew_start(&how) == SINEW_OK);
  for (int i = 0; i < fibers; ++i) {
    const struct sinew_fiber_options where = {.worker_plus_one = i % how.workers + 1};
    jobs[i].number = i;
    MPI_Comm_dup(MPI_COMM_WORLD, &jobs[i].comm);
    CHECK(sinew_fiber_create(&running[i], collect, &jobs[i], &where) == SINEW_OK);
  }
  for (int i = 0; i < fibers; ++i) {
    sinew_fiber_join(running[i]);
    MPI_Comm_free(&jobs[i].comm);
  }
  errors_name_their_own_call();
  sinew_stop();
  MPI_Finalize();
  return 0;
}
