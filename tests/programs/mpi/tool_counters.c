// SPDX-License-Identifier: BSD-3-Clause
/* Performance variables that count while they are started (MPI-5.0 section 15.3.7). */
#include "check.h"

static MPI_T_pvar_session session;

static MPI_T_pvar_handle open_pvar(const char* name, int kind, void* object) {
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int index = -1, count = 0;
  CHECK(MPI_T_pvar_get_index(name, kind, &index) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_handle_alloc(session, index, object, &handle, &count) == MPI_SUCCESS);
  CHECK(count == 1);
  return handle;
}

static unsigned long long value_of(MPI_T_pvar_handle handle) {
  unsigned long long value = 0;
  CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
  return value;
}

/* Each rank sends `count` messages of `bytes` round the ring, receives posted after all sends. */
static void ring(MPI_Comm comm, int count, int bytes) {
  int rank, size;
  char data[256] = {0}, arrived[256];
  MPI_Request requests[16];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < count; ++i) {
    MPI_Isend(data, bytes, MPI_BYTE, (rank + 1) % size, i, comm, &requests[i]);
  }
  MPI_Probe((rank + size - 1) % size, count - 1, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i) {
    MPI_Recv(arrived, bytes, MPI_BYTE, (rank + size - 1) % size, i, comm, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void messages_are_counted(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_T_pvar_handle sent = open_pvar("sinew_p2p_sent", MPI_T_PVAR_CLASS_COUNTER, &comm);
  MPI_T_pvar_handle bytes = open_pvar("sinew_p2p_sent_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &comm);
  MPI_T_pvar_handle arrived = open_pvar("sinew_p2p_arrived", MPI_T_PVAR_CLASS_COUNTER, &comm);
  MPI_T_pvar_handle early = open_pvar("sinew_p2p_unexpected", MPI_T_PVAR_CLASS_COUNTER, &comm);
  MPI_T_pvar_handle most =
      open_pvar("sinew_p2p_most_unexpected", MPI_T_PVAR_CLASS_HIGHWATERMARK, &comm);
  unsigned long long value = 0;
  ring(comm, 4, 16); /* nothing is started */
  CHECK(value_of(sent) == 0 && value_of(arrived) == 0);
  CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  MPI_Barrier(comm);
  ring(comm, 8, 16);
  CHECK(value_of(sent) == 8 && value_of(bytes) == 128 && value_of(arrived) == 8);
  CHECK(value_of(early) == 8 && value_of(most) == 8);
  MPI_Barrier(comm);
  ring(MPI_COMM_WORLD, 2, 16); /* of another communicator */
  CHECK(value_of(sent) == 8);
  CHECK(MPI_T_pvar_readreset(session, sent, &value) == MPI_SUCCESS && value == 8);
  CHECK(MPI_T_pvar_reset(session, most) == MPI_SUCCESS && value_of(most) == 0);
  MPI_Barrier(comm);
  ring(comm, 2, 200);
  CHECK(value_of(sent) == 2 && value_of(bytes) == 528 && value_of(most) == 2);
  CHECK(MPI_T_pvar_stop(session, sent) == MPI_SUCCESS);
  MPI_Barrier(comm);
  ring(comm, 3, 1);
  CHECK(value_of(sent) == 2 && value_of(arrived) == 13);
  value = 100;
  CHECK(MPI_T_pvar_write(session, sent, &value) == MPI_SUCCESS && value_of(sent) == 100);
  CHECK(MPI_T_pvar_handle_free(session, &early) == MPI_SUCCESS);
  MPI_Comm_free(&comm);
  CHECK(MPI_T_pvar_read(session, arrived, &value) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
}

static void one_sided_operations_are_counted(void) {
  int rank, size, *base, value = 3, result = 0;
  MPI_Win win;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  base[0] = base[1] = 0;
  MPI_T_pvar_handle puts = open_pvar("sinew_rma_puts", MPI_T_PVAR_CLASS_COUNTER, &win);
  MPI_T_pvar_handle gets = open_pvar("sinew_rma_gets", MPI_T_PVAR_CLASS_COUNTER, &win);
  MPI_T_pvar_handle atomics = open_pvar("sinew_rma_atomics", MPI_T_PVAR_CLASS_COUNTER, &win);
  MPI_T_pvar_handle bytes = open_pvar("sinew_rma_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(value_of(puts) == 0);
  CHECK(MPI_T_pvar_start(session, puts) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_start(session, gets) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_start(session, atomics) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_start(session, bytes) == MPI_SUCCESS);
  for (int i = 0; i < 5; ++i) {
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
  }
  MPI_Fetch_and_op(&value, &result, MPI_INT, 0, 1, MPI_SUM, win);
  MPI_Win_fence(0, win);
  MPI_Get(&result, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(result == 3);
  CHECK(value_of(puts) == 5 && value_of(gets) == 1 && value_of(atomics) == 1);
  CHECK(value_of(bytes) == 7 * sizeof(int));
  CHECK(MPI_T_pvar_handle_free(session, &puts) == MPI_SUCCESS);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Comm world = MPI_COMM_WORLD;
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  int index = -1, count;
  MPI_T_pvar_handle handle;
  CHECK(MPI_T_pvar_get_index("sinew_p2p_sent", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count) ==
        MPI_T_ERR_INVALID_HANDLE); /* there are no communicators yet */
  MPI_Init(&argc, &argv);
  MPI_T_pvar_handle sleeps = open_pvar("sinew_core_sleeps", MPI_T_PVAR_CLASS_COUNTER, NULL);
  CHECK(MPI_T_pvar_start(session, sleeps) == MPI_T_ERR_PVAR_NO_STARTSTOP);
  messages_are_counted();
  one_sided_operations_are_counted();
  (void)value_of(sleeps);
  CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
  MPI_Finalize();
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return 0;
}
