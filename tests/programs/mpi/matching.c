// SPDX-License-Identifier: BSD-3-Clause
/* Order, wildcards, probes, cancelling, truncated and empty messages, with few and with thousands
   of other receives in the queues. CMakeLists.txt runs it with every engine. */
#include <unistd.h>

#include "check.h"

enum { most = 3000 };
static int rank, size;
static MPI_Request requests[most];
static int numbers[most];

/* Receives that nothing matches until release(). */
static void crowd(int count, MPI_Comm comm) {
  for (int i = 0; i < count; ++i) {
    MPI_Irecv(&numbers[i], 1, MPI_INT, i % 16 == 0 ? MPI_ANY_SOURCE : rank, 100000 + i * 1021, comm,
              &requests[i]);
  }
}
static void release(int count, MPI_Comm comm) {
  for (int i = count - 1; i >= 0; --i) MPI_Send(&i, 1, MPI_INT, rank, 100000 + i * 1021, comm);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) CHECK(numbers[i] == i);
}

/* MPI-5.0 section 3.5: messages with one envelope do not overtake, whichever receives take them. */
static void order(MPI_Comm comm) {
  enum { count = 40 };
  MPI_Request sends[2 * count];
  MPI_Status status;
  int values[2 * count], got;
  for (int i = 0; i < 2 * count; ++i) {
    values[i] = i;
    MPI_Isend(&values[i], 1, MPI_INT, rank, i % 2, comm, &sends[i]);
  }
  for (int i = 0; i < count; ++i) { /* odd ones by tag, from the front */
    MPI_Recv(&got, 1, MPI_INT, i % 2 ? rank : MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
    CHECK(got == 2 * i + 1);
  }
  for (int i = 0; i < count; ++i) { /* what is left in order */
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    CHECK(got == 2 * i && status.MPI_TAG == 0 && status.MPI_SOURCE == rank);
  }
  MPI_Waitall(2 * count, sends, MPI_STATUSES_IGNORE);
}

/* The earliest posted receive that fits wins, exact or not. */
static void earliest_receive(MPI_Comm comm) {
  const int sources[4] = {rank, MPI_ANY_SOURCE, rank, MPI_ANY_SOURCE};
  const int tags[4] = {5, 5, MPI_ANY_TAG, MPI_ANY_TAG};
  for (int first = 0; first < 4; ++first) {
    MPI_Request posted[4];
    int got[4] = {-1, -1, -1, -1};
    for (int i = 0; i < 4; ++i) {
      const int which = (first + i) % 4;
      MPI_Irecv(&got[i], 1, MPI_INT, sources[which], tags[which], comm, &posted[i]);
    }
    for (int i = 0; i < 4; ++i) MPI_Send(&i, 1, MPI_INT, rank, 5, comm);
    MPI_Waitall(4, posted, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; ++i) CHECK(got[i] == i);
  }
}

static void probes(MPI_Comm comm) {
  MPI_Request sends[3];
  MPI_Message message;
  MPI_Status status;
  int values[4] = {10, 20, 30, 40}, last[2] = {0}, got = 0, flag = 0, count = -1;
  for (int i = 0; i < 3; ++i) MPI_Isend(&values[i], i, MPI_INT, rank, i, comm, &sends[i]);
  MPI_Probe(rank, 2, comm, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 2);
  MPI_Mprobe(MPI_ANY_SOURCE, 1, comm, &message, &status);
  MPI_Iprobe(rank, 1, comm, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag); /* taken out by the matched probe */
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  CHECK(status.MPI_TAG == 0);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 0);
  MPI_Recv(NULL, 0, MPI_INT, rank, 0, comm, MPI_STATUS_IGNORE);
  MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
  CHECK(got == 20 && message == MPI_MESSAGE_NULL && status.MPI_TAG == 1);
  MPI_Improbe(rank, 7, comm, &flag, &message, MPI_STATUS_IGNORE);
  CHECK(!flag);
  MPI_Recv(last, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  CHECK(status.MPI_TAG == 2 && last[0] == 30);
  MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
}

static void cancelling(MPI_Comm comm) {
  MPI_Request posted[3];
  MPI_Status status;
  int got[3] = {0, 0, 0}, flag = 0, value = 9;
  MPI_Irecv(&got[0], 1, MPI_INT, rank, 8, comm, &posted[0]);
  MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 8, comm, &posted[1]);
  MPI_Irecv(&got[2], 1, MPI_INT, rank, MPI_ANY_TAG, comm, &posted[2]);
  for (int i = 0; i < 3; i += 2) {
    MPI_Cancel(&posted[i]);
    MPI_Wait(&posted[i], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
  }
  MPI_Send(&value, 1, MPI_INT, rank, 8, comm);
  MPI_Wait(&posted[1], &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(!flag && got[0] == 0 && got[1] == 9 && got[2] == 0);
}

static int ended_cancelled(MPI_Request* send, int by_test) {
  MPI_Status status;
  int flag = !by_test;
  if (!by_test) MPI_Wait(send, &status);
  while (!flag) MPI_Test(send, &flag, &status);
  MPI_Test_cancelled(&status, &flag);
  return flag;
}

/* MPI-5.0 section 3.8.4: the wait for a cancelled send ends, though no receive comes, and no part
   of the message is received later; if a receive has met it, it is sent as if nobody had asked. */
static void cancelled_sends(MPI_Comm comm, int dest, int source) {
  enum { many = 1 << 18, kinds = 5 };
  static int out[many], in[many];
  MPI_Request sends[kinds], receive;
  MPI_Datatype gaps;
  int flag = 0, value = 77, got = 0;
  MPI_Type_vector(many / 2, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Isend(out, many, MPI_INT, dest, 21, comm, &sends[0]);
  MPI_Issend(out, 1, MPI_INT, dest, 21, comm, &sends[1]);
  MPI_Issend(out, many, MPI_INT, dest, 21, comm, &sends[2]);
  MPI_Issend(out, 1, gaps, dest, 21, comm, &sends[3]);
  MPI_Ssend_init(out, 3, MPI_INT, dest, 21, comm, &sends[4]);
  MPI_Type_free(&gaps);
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Start(&sends[4]);
    for (int i = turn == 0 ? 0 : 4; i < kinds; ++i) {
      MPI_Cancel(&sends[i]);
      MPI_Cancel(&sends[i]);
      CHECK(ended_cancelled(&sends[i], i % 2));
    }
  }
  MPI_Request_free(&sends[4]);
  MPI_Barrier(comm);
  MPI_Isend(&value, 1, MPI_INT, dest, 21, comm, &sends[0]);
  MPI_Recv(&got, 1, MPI_INT, source, 21, comm, MPI_STATUS_IGNORE);
  CHECK(got == 77 && !ended_cancelled(&sends[0], 0));

  for (int i = 0; i < many; ++i) out[i] = i + rank;
  MPI_Irecv(in, many, MPI_INT, source, 22, comm, &receive);
  MPI_Barrier(comm);
  MPI_Isend(out, many, MPI_INT, dest, 22, comm, &sends[0]);
  MPI_Cancel(&sends[0]);
  do {
    MPI_Request_get_status(sends[0], &flag, MPI_STATUS_IGNORE);
  } while (!flag);
  CHECK(!ended_cancelled(&sends[0], 1));
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  CHECK(in[0] == source && in[many - 1] == source + many - 1);
}

static void truncated(MPI_Comm comm) {
  int values[4] = {1, 2, 3, 4}, got[4] = {0, 0, 0, 0}, error_class = 0, value = 5;
  MPI_Request send;
  MPI_Isend(values, 4, MPI_INT, rank, 4, comm, &send);
  MPI_Error_class(MPI_Recv(got, 2, MPI_INT, rank, 4, comm, MPI_STATUS_IGNORE), &error_class);
  CHECK(error_class == MPI_ERR_TRUNCATE && got[2] == 0);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Isend(&value, 1, MPI_INT, rank, 4, comm, &send); /* the next one is not harmed */
  CHECK(MPI_Recv(got, 2, MPI_INT, rank, 4, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && got[0] == 5);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

/* From every rank at once, by tag in a scattered order, with and without the source. */
static void from_all(MPI_Comm comm) {
  enum { each = 200 };
  static int sent[each];
  static MPI_Request sends[16 * each];
  int got;
  MPI_Status status;
  CHECK(size <= 16);
  for (int to = 0; to < size; ++to) {
    for (int i = 0; i < each; ++i) {
      sent[i] = i;
      MPI_Isend(&sent[i], 1, MPI_INT, to, i * 64, comm, &sends[to * each + i]);
    }
  }
  for (int i = 0; i < each; ++i) {
    const int tag = i * 7 % each;
    for (int from = 0; from < size; ++from) {
      MPI_Recv(&got, 1, MPI_INT, i % 2 ? from : MPI_ANY_SOURCE, tag * 64, comm, &status);
      CHECK(got == tag && status.MPI_TAG == tag * 64);
    }
  }
  MPI_Waitall(size * each, sends, MPI_STATUSES_IGNORE);
}

/* MPI-5.0 section 3.7.3: what was under way goes on after its request has been freed, and section
   7.4.3: after its communicator has. */
static void abandoned(void) {
  MPI_Comm comm;
  MPI_Request request;
  static volatile int got = 0;
  int value = 7, flag;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (rank % 2 == 0 && rank + 1 < size) {
    MPI_Irecv((int*)&got, 1, MPI_INT, rank + 1, 3, comm, &request);
    MPI_Request_free(&request);
  }
  if (rank % 2 == 1) {
    usleep(10000); /* the communicator is gone over there, probably */
    MPI_Ssend(&value, 1, MPI_INT, rank - 1, 3, comm);
  }
  MPI_Comm_free(&comm);
  while (rank % 2 == 0 && rank + 1 < size && got != 7) {
    MPI_Iprobe(rank, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
}

/* MPI-5.0 section 3.8.2: the message is the probe's, and the communicator may go before it. */
static void probed_and_left(void) {
  MPI_Comm comm;
  MPI_Message message[2];
  MPI_Request request;
  int value[2] = {11, 12}, got[2] = {0, 0};
  const int partner = rank ^ 1;
  if (partner >= size) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
    return;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Isend(value, 1, MPI_INT, partner, 3, comm, &request);
  MPI_Request_free(&request);
  MPI_Isend(value + 1, 1, MPI_INT, partner, 4, comm, &request);
  MPI_Mprobe(partner, 3, comm, &message[0], MPI_STATUS_IGNORE);
  MPI_Mprobe(partner, 4, comm, &message[1], MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  MPI_Mrecv(got, 1, MPI_INT, &message[0], MPI_STATUS_IGNORE);
  MPI_Imrecv(got + 1, 1, MPI_INT, &message[1], &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got[0] == 11 && got[1] == 12);
}

int main(int argc, char** argv) {
  const int crowds[] = {0, 70, most};
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; ++i) {
    crowd(crowds[i], comm);
    order(comm);
    probes(comm);
    truncated(comm);
    MPI_Barrier(comm); /* what others send must not meet the wildcards above and below */
    from_all(comm);
    MPI_Barrier(comm);
    cancelled_sends(comm, rank, rank);
    if (!on_several_nodes() || getenv("SINEW_NET_MATCHING") == NULL) {
      /* what the network matches it does not give back */
      cancelled_sends(comm, (rank + 1) % size, (rank + size - 1) % size);
    }
    MPI_Barrier(comm);
    earliest_receive(comm);
    cancelling(comm);
    release(crowds[i], comm);
    MPI_Barrier(comm);
  }
  MPI_Comm_free(&comm);
  abandoned();
  probed_and_left();
  MPI_Finalize();
  return 0;
}
