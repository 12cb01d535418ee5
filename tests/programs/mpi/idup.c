// SPDX-License-Identifier: BSD-3-Clause
/* MPI_Comm_idup and MPI_Comm_idup_with_info do not wait for anybody: they go on while their ranks
 * wait for other things, many at a time, in any order, and from several threads. */
#include "check.h"
#include <pthread.h>

enum { many = 24, threads = 4, rounds = 12 };

static int rank, size;
static unsigned random_state = 12345;

static unsigned draw(unsigned below) {
  random_state = random_state * 1103515245u + 12345u;
  return (random_state >> 16) % below;
}

/* Just the members of `comm` take part, and nothing of another communicator gets in. */
static void expect_works(MPI_Comm comm, MPI_Comm parent) {
  int result = -1, n = 0, r = -1, sum = 0, relation = -1;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &r);
  MPI_Comm_compare(comm, parent, &relation);
  CHECK(relation == MPI_CONGRUENT);
  CHECK(MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(sum == n * (n - 1) / 2);
  CHECK(MPI_Sendrecv(&r, 1, MPI_INT, (r + 1) % n, 7, &result, 1, MPI_INT, (r + n - 1) % n, 7, comm,
                     MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(result == (r + n - 1) % n);
}

/* The case that a blocking duplicate cannot do. */
static void crossed(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  int word = rank;
  if (size >= 2 && rank == 0) {
    MPI_Recv(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(word == 1);
  }
  CHECK(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request) == MPI_SUCCESS);
  if (size >= 2 && rank == 1) MPI_Ssend(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL);
  expect_works(made, MPI_COMM_WORLD);
  MPI_Comm_free(&made);
}

/* A rank that waits for something else makes the others' duplicate go on, too. */
static void others_progress(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request, receive = MPI_REQUEST_NULL;
  int word = 5, flag = 0;
  const int last = size - 1;
  if (size < 2) return;
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  if (rank == last) {
    /* Never looks at its request before the others are done with theirs. */
    MPI_Irecv(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  } else {
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (rank == 0) MPI_Send(&word, 1, MPI_INT, last, 4, MPI_COMM_WORLD);
  }
  expect_works(made, MPI_COMM_WORLD);
  MPI_Comm_free(&made);
}

/* Many at once on several communicators; completed in an order of each rank's own, by every call
 * that completes requests; blocking calls that make communicators in between. */
static void mixed(void) {
  MPI_Comm parents[3], made[many];
  MPI_Request requests[many];
  int of[many], left = many;
  MPI_Comm_dup(MPI_COMM_WORLD, &parents[0]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &parents[1]);
  MPI_Comm_dup(MPI_COMM_SELF, &parents[2]);
  for (int i = 0; i < many; ++i) {
    MPI_Comm between = MPI_COMM_NULL;
    of[i] = (i * 7 + i / 3) % 3;
    if (i % 2 == 0) {
      MPI_Comm_idup(parents[of[i]], &made[i], &requests[i]);
    } else {
      MPI_Comm_idup_with_info(parents[of[i]], MPI_INFO_NULL, &made[i], &requests[i]);
    }
    if (i % 5 == 1) MPI_Comm_dup(parents[i % 3], &between);
    if (i % 5 == 3) MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, 0, &between);
    if (between != MPI_COMM_NULL) MPI_Comm_free(&between);
    if (i % 6 == 5) MPI_Barrier(parents[0]);
  }
  /* The parents may go while their duplicates are under way. */
  MPI_Comm copies[3];
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_dup(parents[i], &copies[i]);
    MPI_Comm_free(&parents[i]);
  }
  random_state += (unsigned)rank * 977u;
  while (left > 0) {
    int index = MPI_UNDEFINED, flag = 0, indices[many];
    switch (draw(5)) {
      case 0:
        MPI_Waitany(many, requests, &index, MPI_STATUS_IGNORE);
        left -= index != MPI_UNDEFINED;
        break;
      case 1:
        MPI_Testany(many, requests, &index, &flag, MPI_STATUS_IGNORE);
        left -= flag && index != MPI_UNDEFINED;
        break;
      case 2:
        MPI_Waitsome(many, requests, &flag, indices, MPI_STATUSES_IGNORE);
        left -= flag;
        break;
      case 3:
        index = (int)draw(many);
        left -= requests[index] != MPI_REQUEST_NULL;
        MPI_Wait(&requests[index], MPI_STATUS_IGNORE);
        break;
      default:
        if (left > many / 2) break;
        MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
        left = 0;
    }
  }
  for (int i = 0; i < many; ++i) {
    expect_works(made[i], copies[of[i]]);
    MPI_Comm_free(&made[i]);
  }
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&copies[i]);
}

/* Attributes are those of the call; hints are those given. */
static int calls = 0, refuse = 0;
static int copy(MPI_Comm old, int key, void* extra, void* in, void* out, int* flag) {
  (void)old, (void)key, (void)extra;
  ++calls;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}
static int removals = 0;
static int remove_value(MPI_Comm old, int key, void* value, void* extra) {
  (void)old, (void)key, (void)value, (void)extra;
  ++removals;
  return MPI_SUCCESS;
}

static void attributes(void) {
  MPI_Comm parent, made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Info info, used;
  char value[MPI_MAX_INFO_VAL], here[8];
  int key = MPI_KEYVAL_INVALID, flag = 0, length = (int)sizeof value;
  void* found = NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(copy, remove_value, &key, NULL);
  MPI_Comm_set_attr(parent, key, here);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  CHECK(MPI_Comm_idup_with_info(parent, info, &made, &request) == MPI_SUCCESS);
  CHECK(calls == 1);
  MPI_Info_free(&info);
  MPI_Comm_set_attr(parent, key, here + 4); /* too late for the duplicate */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(calls == 1);
  MPI_Comm_get_attr(made, key, &found, &flag);
  CHECK(flag && found == here + 1);
  MPI_Comm_get_info(made, &used);
  MPI_Info_get_string(used, "mpi_assert_no_any_tag", &length, value, &flag);
  CHECK(flag && strcmp(value, "true") == 0);
  MPI_Info_free(&used);
  MPI_Comm_free(&made);
  CHECK(removals == 2);
  /* A copy function that fails ends the call, on this rank; the others' calls still end. */
  refuse = rank == 0;
  const int code = MPI_Comm_idup(parent, &made, &request);
  if (rank == 0) {
    EXPECT_ERROR(code, MPI_ERR_OTHER, "");
    CHECK(made == MPI_COMM_NULL && request == MPI_REQUEST_NULL);
  } else {
    CHECK(code == MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
  }
  refuse = 0;
  MPI_Comm_idup(parent, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_works(made, parent);
  MPI_Comm_free(&made);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&parent);
}

/* What may not be done with it says so. */
static void misuse(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  char name[MPI_MAX_OBJECT_NAME];
  int n = 0, flag = 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  EXPECT_ERROR(MPI_Barrier(made), MPI_ERR_COMM, "not been completed");
  EXPECT_ERROR(MPI_Send(&n, 1, MPI_INT, 0, 0, made), MPI_ERR_COMM, "not been completed");
  EXPECT_ERROR(MPI_Comm_free(&made), MPI_ERR_COMM, "not been completed");
  /* What needs no other rank may be asked and set at once, as with other libraries. */
  CHECK(MPI_Comm_size(made, &n) == MPI_SUCCESS && n == size);
  CHECK(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN) == MPI_SUCCESS);
  CHECK(MPI_Comm_set_name(made, "the new one") == MPI_SUCCESS);
  EXPECT_ERROR(MPI_Request_free(&request), MPI_ERR_REQUEST, "collective");
  EXPECT_ERROR(MPI_Cancel(&request), MPI_ERR_REQUEST, "collective");
  CHECK(request != MPI_REQUEST_NULL);
  while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_works(made, MPI_COMM_WORLD);
  MPI_Comm_get_name(made, name, &n);
  CHECK(strcmp(name, "the new one") == 0);
  CHECK(MPI_Send(&n, 1, MPI_INT, size, 0, made) != MPI_SUCCESS); /* its handler, not World's */
  MPI_Comm_free(&made);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Each thread with a communicator of its own, in its own order; all share the ranks. */
static void* thread(void* given) {
  MPI_Comm mine = *(MPI_Comm*)given;
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm made[4], blocking;
    MPI_Request requests[4];
    for (int k = 0; k < 4; ++k) MPI_Comm_idup(mine, &made[k], &requests[k]);
    MPI_Comm_dup(mine, &blocking);
    MPI_Wait(&requests[i % 4], MPI_STATUS_IGNORE);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 4; ++k) {
      expect_works(made[k], mine);
      MPI_Comm_free(&made[k]);
    }
    MPI_Comm_free(&blocking);
  }
  return NULL;
}

static void threaded(void) {
  MPI_Comm comms[threads];
  pthread_t ids[threads];
  for (int t = 0; t < threads; ++t) {
    MPI_Comm_split(MPI_COMM_WORLD, t == 3 ? rank % 2 : 0, rank, &comms[t]);
  }
  for (int t = 0; t < threads; ++t) CHECK(pthread_create(&ids[t], NULL, thread, &comms[t]) == 0);
  for (int t = 0; t < threads; ++t) pthread_join(ids[t], NULL);
  for (int t = 0; t < threads; ++t) MPI_Comm_free(&comms[t]);
}

/* Contexts of duplicates that have gone are used again: no growth. */
static void again_and_again(void) {
  MPI_Comm made;
  MPI_Request request;
  for (int i = 0; i < 20000; ++i) {
    MPI_Comm_idup(MPI_COMM_SELF, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
  }
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  crossed();
  others_progress();
  for (int i = 0; i < 5; ++i) mixed();
  attributes();
  misuse();
  if (level == MPI_THREAD_MULTIPLE) threaded();
  again_and_again();
  MPI_Finalize();
  return 0;
}
