// SPDX-License-Identifier: BSD-3-Clause
/* By `sinew run --survive`: the last rank dies. Nonblocking receives from any source stay, and say
 * MPIX_ERR_PROC_FAILED_PENDING until the death is acknowledged; waits for several requests end when
 * one of them tells of a death, since the others may never. Blocking ones end. */
#include <mpi-ext.h>
#include <signal.h>

#include "../check.h"

enum { plain, persistent, both, kinds };
static int rank, living;
static MPI_Request any[kinds];
static int got[kinds];

static int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}
#define PENDING(call) CHECK(class_of(call) == MPIX_ERR_PROC_FAILED_PENDING)
#define FAILED(call) CHECK(class_of(call) == MPIX_ERR_PROC_FAILED)
#define IN_STATUS(call) CHECK(class_of(call) == MPI_ERR_IN_STATUS)

static void post(MPI_Comm comm) {
  static int zero = 0;
  MPI_Irecv(&got[plain], 1, MPI_INT, MPI_ANY_SOURCE, plain, comm, &any[plain]);
  MPI_Recv_init(&got[persistent], 1, MPI_INT, MPI_ANY_SOURCE, persistent, comm, &any[persistent]);
  MPI_Start(&any[persistent]);
  MPI_Isendrecv(&zero, 1, MPI_INT, rank, 9, &got[both], 1, MPI_INT, MPI_ANY_SOURCE, both, comm,
                &any[both]);
}

/* Each call tells of the death, twice, and changes nothing. */
static void each_call_tells(void) {
  int index = -1, flag = 1, n = 0, indices[kinds];
  MPI_Status statuses[kinds];
  for (int i = 0; i < kinds; ++i) {
    for (int turn = 0; turn < 2; ++turn) {
      PENDING(MPI_Wait(&any[i], MPI_STATUS_IGNORE));
      PENDING(MPI_Test(&any[i], &flag, MPI_STATUS_IGNORE));
      CHECK(!flag && any[i] != MPI_REQUEST_NULL);
    }
  }
  PENDING(MPI_Waitany(kinds, any, &index, MPI_STATUS_IGNORE));
  CHECK(index == 0);
  PENDING(MPI_Testany(kinds, any, &index, &flag, MPI_STATUS_IGNORE));
  IN_STATUS(MPI_Waitsome(kinds, any, &n, indices, statuses));
  CHECK(n == kinds && class_of(statuses[1].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING);
  IN_STATUS(MPI_Testsome(kinds, any, &n, indices, statuses));
  CHECK(n == kinds);
  IN_STATUS(MPI_Waitall(kinds, any, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kinds; ++i) CHECK(any[i] != MPI_REQUEST_NULL);
}

/* To the rank before, once that asks for it; this one asks the next. */
static void send_when_asked(int tag, MPI_Comm comm) {
  const int from = (rank + 1) % living, to = (rank + living - 1) % living;
  int asked = 0;
  MPI_Send(&rank, 1, MPI_INT, from, 22, comm);
  MPI_Recv(&asked, 1, MPI_INT, to, 22, comm, MPI_STATUS_IGNORE);
  MPI_Send(&rank, 1, MPI_INT, to, tag, comm);
}

/* Beside a receive from a rank that sends only after all of this. */
static void waits_for_all_end(int victim, MPI_Comm comm) {
  MPI_Request all[2];
  MPI_Status statuses[2];
  int later = 0, never = 0, flag = 1;
  const int from = (rank + 1) % living;
  for (int first = 0; first < 2; ++first) {
    all[first] = any[plain];
    MPI_Irecv(&later, 1, MPI_INT, from, 20, comm, &all[1 - first]);
    IN_STATUS(MPI_Waitall(2, all, statuses));
    CHECK(class_of(statuses[first].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING);
    CHECK(statuses[1 - first].MPI_ERROR == MPI_ERR_PENDING);
    IN_STATUS(MPI_Testall(2, all, &flag, statuses));
    CHECK(!flag && all[0] != MPI_REQUEST_NULL && all[1] != MPI_REQUEST_NULL);
    send_when_asked(20, comm);
    CHECK(MPI_Wait(&all[1 - first], MPI_STATUS_IGNORE) == MPI_SUCCESS && later == from);
  }
  MPI_Irecv(&never, 1, MPI_INT, victim, 20, comm, &all[0]);
  MPI_Irecv(&later, 1, MPI_INT, from, 21, comm, &all[1]);
  IN_STATUS(MPI_Waitall(2, all, statuses));
  CHECK(class_of(statuses[0].MPI_ERROR) == MPIX_ERR_PROC_FAILED && all[0] == MPI_REQUEST_NULL);
  CHECK(statuses[1].MPI_ERROR == MPI_ERR_PENDING && all[1] != MPI_REQUEST_NULL);
  send_when_asked(21, comm);
  CHECK(MPI_Waitall(2, all, statuses) == MPI_SUCCESS && later == from);
}

static void blocking_ones_end(MPI_Comm comm) {
  int value = 0, flag = 0;
  FAILED(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 30, comm, MPI_STATUS_IGNORE));
  FAILED(MPI_Sendrecv(&rank, 1, MPI_INT, rank, 31, &value, 1, MPI_INT, MPI_ANY_SOURCE, 30, comm,
                      MPI_STATUS_IGNORE));
  MPI_Recv(&value, 1, MPI_INT, rank, 31, comm, MPI_STATUS_IGNORE);
  FAILED(MPI_Probe(MPI_ANY_SOURCE, 30, comm, MPI_STATUS_IGNORE));
  FAILED(MPI_Iprobe(MPI_ANY_SOURCE, 30, comm, &flag, MPI_STATUS_IGNORE));
}

/* A message that comes meets the receive although nothing has been acknowledged. */
static void met_all_the_same(MPI_Comm comm) {
  MPI_Request request;
  int code = 0, value = 0;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 40, comm, &request);
  PENDING(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Send(&living, 1, MPI_INT, rank, 40, comm);
  do {
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  } while (class_of(code) == MPIX_ERR_PROC_FAILED_PENDING);
  CHECK(code == MPI_SUCCESS && value == living && request == MPI_REQUEST_NULL);
}

/* They have kept their places: before receives that were posted later. */
static void received_after_all(MPI_Comm comm) {
  MPI_Request second;
  MPI_Status status;
  int flag = 1, next = 0;
  for (int i = 0; i < kinds; ++i) {
    CHECK(MPI_Test(&any[i], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag);
  }
  MPI_Irecv(&next, 1, MPI_INT, rank, plain, comm, &second);
  for (int value = 7; value < 9; ++value) MPI_Send(&value, 1, MPI_INT, rank, plain, comm);
  CHECK(MPI_Wait(&any[plain], &status) == MPI_SUCCESS && status.MPI_SOURCE == rank);
  CHECK(MPI_Wait(&second, MPI_STATUS_IGNORE) == MPI_SUCCESS && got[plain] == 7 && next == 8);
  for (int value = 10; value < 12; ++value) {
    MPI_Send(&value, 1, MPI_INT, rank, persistent, comm);
    CHECK(MPI_Wait(&any[persistent], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(got[persistent] == value);
    if (value == 10) MPI_Start(&any[persistent]);
  }
  MPI_Request_free(&any[persistent]);
  MPI_Send(&rank, 1, MPI_INT, rank, both, comm);
  CHECK(MPI_Wait(&any[both], MPI_STATUS_IGNORE) == MPI_SUCCESS && got[both] == rank);
  MPI_Recv(&next, 1, MPI_INT, rank, 9, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int size = 0, provided = 0, acked = 0, word = 0;
  MPI_Comm comm, smaller;
  /* With a word: among threads, which match otherwise. */
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  living = size - 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
  /* A death while some are still in the duplication could end it for them. */
  if (rank != living) CHECK(MPI_Send(&rank, 1, MPI_INT, living, 51, comm) == MPI_SUCCESS);
  if (rank == living) {
    for (int i = 0; i < living; ++i) MPI_Recv(&word, 1, MPI_INT, i, 51, comm, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  post(comm);
  FAILED(MPI_Recv(&word, 1, MPI_INT, living, 50, comm, MPI_STATUS_IGNORE));
  each_call_tells();
  waits_for_all_end(living, comm);
  blocking_ones_end(comm);
  met_all_the_same(comm);
  CHECK(MPIX_Comm_ack_failed(comm, size, &acked) == MPI_SUCCESS && acked == 1);
  received_after_all(comm);
  CHECK(MPIX_Comm_shrink(comm, &smaller) == MPI_SUCCESS);
  CHECK(MPI_Barrier(smaller) == MPI_SUCCESS);
  if (rank == 0) printf("survived\n");
  MPI_Finalize();
  return 0;
}
