// SPDX-License-Identifier: BSD-3-Clause
/* Generalized requests (MPI-5.0 section 13.2): their callbacks are called when and as often as they
 * should be, among other requests, and whichever thread completes them; statuses that are set. */
#include <pthread.h>

#include "check.h"

typedef struct {
  MPI_Request request;
  int elements, cancelled, source, tag;
  int query_code, free_code, cancel_code;
  int queries, frees, cancels, complete_when_cancelled;
} operation;

static int rank, level;

static int on_query(void* state, MPI_Status* status) {
  operation* const o = state;
  ++o->queries;
  CHECK(MPI_Status_set_elements(status, MPI_INT, o->elements) == MPI_SUCCESS);
  CHECK(MPI_Status_set_cancelled(status, o->cancelled) == MPI_SUCCESS);
  status->MPI_SOURCE = o->source;
  CHECK(MPI_Status_set_tag(status, o->tag) == MPI_SUCCESS);
  return o->query_code;
}

static int on_free(void* state) {
  operation* const o = state;
  ++o->frees;
  return o->free_code;
}

static int on_cancel(void* state, int complete) {
  operation* const o = state;
  ++o->cancels;
  o->complete_when_cancelled = complete;
  if (!complete && o->cancel_code == MPI_SUCCESS) {
    o->cancelled = 1;
    CHECK(MPI_Grequest_complete(o->request) == MPI_SUCCESS);
  }
  return o->cancel_code;
}

static void start(operation* o, int elements) {
  memset(o, 0, sizeof *o);
  o->elements = elements;
  o->source = 40 + elements;
  o->tag = 50 + elements;
  CHECK(MPI_Grequest_start(on_query, on_free, on_cancel, o, &o->request) == MPI_SUCCESS);
}

static void expect_status(const MPI_Status* status, const operation* o) {
  int count = -1, flag = -1;
  CHECK(MPI_Get_count(status, MPI_INT, &count) == MPI_SUCCESS && count == o->elements);
  CHECK(MPI_Test_cancelled(status, &flag) == MPI_SUCCESS && flag == o->cancelled);
  CHECK(status->MPI_SOURCE == o->source && status->MPI_TAG == o->tag);
}

static void one(void) {
  operation o;
  MPI_Status status;
  MPI_Request copy;
  int flag = 1;
  start(&o, 3);
  CHECK(MPI_Test(&o.request, &flag, &status) == MPI_SUCCESS && flag == 0);
  CHECK(MPI_Request_get_status(o.request, &flag, &status) == MPI_SUCCESS && flag == 0);
  CHECK(o.queries == 0 && o.frees == 0);
  CHECK(MPI_Grequest_complete(o.request) == MPI_SUCCESS);
  EXPECT_ERROR(MPI_Grequest_complete(o.request), MPI_ERR_REQUEST, "not a generalized request");
  CHECK(MPI_Request_get_status(o.request, &flag, &status) == MPI_SUCCESS && flag == 1);
  expect_status(&status, &o);
  CHECK(o.queries == 1 && o.frees == 0);
  CHECK(MPI_Wait(&o.request, &status) == MPI_SUCCESS && o.request == MPI_REQUEST_NULL);
  expect_status(&status, &o);
  CHECK(o.queries == 2 && o.frees == 1 && o.cancels == 0);
  /* The query is called though nobody looks at the status. */
  start(&o, 4);
  copy = o.request;
  MPI_Grequest_complete(copy);
  CHECK(MPI_Test(&o.request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 1);
  CHECK(o.queries == 1 && o.frees == 1 && o.request == MPI_REQUEST_NULL);
  EXPECT_ERROR(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST, "not a generalized");
}

static void freed(void) {
  operation o;
  MPI_Request copy;
  start(&o, 1);
  copy = o.request;
  CHECK(MPI_Request_free(&o.request) == MPI_SUCCESS && o.request == MPI_REQUEST_NULL);
  CHECK(o.frees == 0);
  CHECK(MPI_Grequest_complete(copy) == MPI_SUCCESS);
  CHECK(o.frees == 1 && o.queries == 0);
  start(&o, 1);
  MPI_Grequest_complete(o.request);
  CHECK(MPI_Request_free(&o.request) == MPI_SUCCESS && o.request == MPI_REQUEST_NULL);
  CHECK(o.frees == 1 && o.queries == 0);
}

static void cancelled(void) {
  operation o;
  MPI_Status status;
  start(&o, 0);
  CHECK(MPI_Cancel(&o.request) == MPI_SUCCESS);
  CHECK(o.cancels == 1 && o.complete_when_cancelled == 0);
  CHECK(MPI_Wait(&o.request, &status) == MPI_SUCCESS);
  expect_status(&status, &o);
  CHECK(o.cancelled == 1);
  start(&o, 0);
  MPI_Grequest_complete(o.request);
  CHECK(MPI_Cancel(&o.request) == MPI_SUCCESS);
  CHECK(o.cancels == 1 && o.complete_when_cancelled != 0);
  CHECK(MPI_Wait(&o.request, &status) == MPI_SUCCESS);
  expect_status(&status, &o);
}

/* What a callback returns is the error of the call that it was called from. */
static void codes(void) {
  operation o;
  MPI_Status statuses[2];
  MPI_Request both[2];
  start(&o, 2);
  o.query_code = MPI_ERR_OTHER;
  MPI_Grequest_complete(o.request);
  EXPECT_ERROR(MPI_Wait(&o.request, MPI_STATUS_IGNORE), MPI_ERR_OTHER, "generalized request");
  CHECK(o.frees == 1 && o.request == MPI_REQUEST_NULL);
  start(&o, 2);
  o.free_code = MPI_ERR_INTERN;
  MPI_Grequest_complete(o.request);
  EXPECT_ERROR(MPI_Request_free(&o.request), MPI_ERR_INTERN, "generalized request");
  CHECK(o.frees == 1 && o.request == MPI_REQUEST_NULL);
  start(&o, 2);
  o.cancel_code = MPI_ERR_ARG;
  EXPECT_ERROR(MPI_Cancel(&o.request), MPI_ERR_ARG, "generalized request");
  o.free_code = MPI_ERR_INTERN;
  MPI_Grequest_complete(o.request);
  both[0] = MPI_REQUEST_NULL;
  both[1] = o.request;
  CHECK(MPI_Waitall(2, both, statuses) == MPI_ERR_IN_STATUS);
  CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_ERROR == MPI_ERR_INTERN);
  CHECK(both[1] == MPI_REQUEST_NULL);
}

/* Among messages, in all calls that take several. */
static void among_others(void) {
  for (int way = 0; way < 6; ++way) {
    operation o[2];
    MPI_Request all[4];
    MPI_Status statuses[4];
    int in = -1, out = rank, flag = 0, index = -1, n = 0, indices[4];
    start(&o[0], 6);
    start(&o[1], 7);
    MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &all[1]);
    MPI_Isend(&out, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &all[3]);
    all[0] = o[0].request;
    all[2] = o[1].request;
    MPI_Grequest_complete(all[2]);
    if (way == 0) {
      MPI_Grequest_complete(all[0]);
      CHECK(MPI_Waitall(4, all, statuses) == MPI_SUCCESS);
      expect_status(&statuses[0], &o[0]);
      expect_status(&statuses[2], &o[1]);
    } else if (way == 1) {
      CHECK(MPI_Testall(4, all, &flag, statuses) == MPI_SUCCESS && flag == 0);
      MPI_Grequest_complete(all[0]);
      while (!flag) {
        MPI_Testall(4, all, &flag, statuses);
      }
      expect_status(&statuses[2], &o[1]);
    } else {
      while (n < 3) {
        int got = 0;
        if (way == 2) {
          MPI_Waitany(4, all, &index, &statuses[0]);
          got = 1;
        } else if (way == 3) {
          MPI_Testany(4, all, &index, &flag, &statuses[0]);
          got = flag;
        } else {
          (way == 4 ? MPI_Waitsome : MPI_Testsome)(4, all, &got, indices, statuses);
        }
        for (int i = 0; i < got; ++i) {
          const int which = way < 4 ? index : indices[i];
          CHECK(which != 0);
          if (which == 2) {
            expect_status(&statuses[i], &o[1]);
          }
        }
        n += got;
      }
      MPI_Grequest_complete(all[0]);
      CHECK(MPI_Wait(&all[0], &statuses[0]) == MPI_SUCCESS);
      expect_status(&statuses[0], &o[0]);
    }
    CHECK(in == rank && o[0].frees == 1 && o[1].frees == 1);
    CHECK(o[0].queries == 1 && o[1].queries == 1);
  }
}

static void* complete_it(void* request) {
  CHECK(MPI_Grequest_complete(*(MPI_Request*)request) == MPI_SUCCESS);
  return NULL;
}

/* Completed by another thread while this one waits for it, or frees it. */
static void by_threads(void) {
  for (int i = 0; i < 600; ++i) {
    operation o;
    pthread_t other;
    MPI_Request copy;
    MPI_Status status;
    start(&o, i % 5);
    copy = o.request;
    CHECK(pthread_create(&other, NULL, complete_it, &copy) == 0);
    if (i % 2 == 0) {
      CHECK(MPI_Wait(&o.request, &status) == MPI_SUCCESS);
      expect_status(&status, &o);
    } else {
      CHECK(MPI_Request_free(&o.request) == MPI_SUCCESS);
    }
    pthread_join(other, NULL);
    CHECK(o.frees == 1 && o.queries == (i % 2 == 0));
  }
}

/* MPI_Status_set_elements counts basic elements, also where they are parts of one instance. */
static void elements(void) {
  MPI_Datatype mixed, huge;
  MPI_Status status;
  int count = 0;
  MPI_Count large = 0;
  const int lengths[] = {1, 2};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, types, &mixed);
  MPI_Type_commit(&mixed);
  for (int n = 0; n < 10; ++n) {
    CHECK(MPI_Status_set_elements(&status, mixed, n) == MPI_SUCCESS);
    MPI_Get_elements(&status, mixed, &count);
    CHECK(count == n);
    MPI_Get_count(&status, mixed, &count);
    CHECK(count == (n % 3 == 0 ? n / 3 : MPI_UNDEFINED));
  }
  /* A great many elements in one instance. */
  MPI_Type_contiguous(1 << 20, mixed, &huge);
  MPI_Type_commit(&huge);
  for (MPI_Count n = 1; n < (MPI_Count)1 << 40; n = 5 * n + 3) {
    CHECK(MPI_Status_set_elements_c(&status, huge, n) == MPI_SUCCESS);
    MPI_Get_elements_c(&status, huge, &large);
    CHECK(large == n);
  }
  EXPECT_ERROR(MPI_Status_set_elements(&status, mixed, -1), MPI_ERR_COUNT, "negative");
  EXPECT_ERROR(MPI_Status_set_elements(&status, MPI_DATATYPE_NULL, 1), MPI_ERR_TYPE,
               "MPI_DATATYPE_NULL");
  MPI_Type_free(&huge);
  MPI_Type_free(&mixed);
}

int main(int argc, char** argv) {
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  one();
  freed();
  cancelled();
  codes();
  among_others();
  if (level == MPI_THREAD_MULTIPLE) {
    by_threads();
  }
  elements();
  MPI_Finalize();
  if (rank == 0) {
    printf("generalized: ok\n");
  }
  return 0;
}
