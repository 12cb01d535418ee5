// SPDX-License-Identifier: BSD-3-Clause
/* Several threads of each rank make communicators between groups, from groups, and sessions, all at
 * the same time and in no order between them. Argument: rounds. */
#include "check.h"

#include <pthread.h>

enum { threads = 4 };

static int rank, size, rounds = 12;
static MPI_Comm mine[threads];

static void sum_is(MPI_Comm comm, int value, int wanted) {
  int sum = -1;
  CHECK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(sum == wanted);
}

static void* work(void* argument) {
  const int t = *(int*)argument, side = rank % 2;
  MPI_Comm half, inter, one, from;
  MPI_Group group;
  MPI_Session session;
  char tag[30];
  MPI_Comm_split(mine[t], side, 0, &half);
  for (int i = 0; i < rounds; ++i) {
    if (size > 1) {
      /* The same tag for all threads: what they have in common is the job alone. */
      CHECK(MPI_Intercomm_create(half, 0, mine[t], !side, 1, &inter) == MPI_SUCCESS);
      sum_is(inter, 1, side == 0 ? size / 2 : (size + 1) / 2);
      MPI_Intercomm_merge(inter, side, &one);
      sum_is(one, rank, size * (size - 1) / 2);
      MPI_Comm_free(&inter);
      MPI_Comm_free(&one);
    }
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) == MPI_SUCCESS);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    snprintf(tag, sizeof tag, "thread %d round %d", t, i);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &from);
    sum_is(from, rank, size * (size - 1) / 2);
    MPI_Group_free(&group);
    MPI_Comm_free(&from);
    MPI_Session_finalize(&session);
  }
  MPI_Comm_free(&half);
  return NULL;
}

int main(int argc, char** argv) {
  int provided, numbers[threads];
  pthread_t all[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) rounds = atoi(argv[1]);
  for (int t = 0; t < threads; ++t) {
    numbers[t] = t;
    MPI_Comm_dup(MPI_COMM_WORLD, &mine[t]);
  }
  for (int t = 0; t < threads; ++t) pthread_create(&all[t], NULL, work, &numbers[t]);
  for (int t = 0; t < threads; ++t) pthread_join(all[t], NULL);
  for (int t = 0; t < threads; ++t) MPI_Comm_free(&mine[t]);
  MPI_Finalize();
  return 0;
}
