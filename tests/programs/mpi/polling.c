// SPDX-License-Identifier: BSD-3-Clause
/* A token goes round, and nobody waits for it: all look for it in loops, by every call that only
   looks. With more ranks than processors a loop that finds nothing gives its processor away, so
   the token comes after few looks, and not after as many as fit into time slices of ranks that
   look in vain. */
#include <unistd.h>

#include "check.h"

/* Of each call; and looks of all ranks for each step of the token, where ranks are crowded. */
enum { rounds = 11, most_looks = 3000 };

static int rank, size, before, token;
static long looks;

static void receive(void) {
  MPI_Recv(&token, 1, MPI_INT, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_test(void) {
  MPI_Request request;
  int flag = 0;
  MPI_Irecv(&token, 1, MPI_INT, before, 5, MPI_COMM_WORLD, &request);
  for (; !flag; ++looks) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void by_testany(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int flag = 0, which = -1;
  MPI_Irecv(&token, 1, MPI_INT, before, 5, MPI_COMM_WORLD, &requests[1]);
  for (; !flag; ++looks) MPI_Testany(2, requests, &which, &flag, MPI_STATUS_IGNORE);
  CHECK(which == 1);
}

static void by_get_status(void) {
  MPI_Request request;
  int flag = 0;
  MPI_Irecv(&token, 1, MPI_INT, before, 5, MPI_COMM_WORLD, &request);
  for (; !flag; ++looks) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_iprobe(void) {
  int flag = 0;
  for (; !flag; ++looks) MPI_Iprobe(before, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  receive();
}

static void by_improbe(void) {
  MPI_Message message;
  int flag = 0;
  for (; !flag; ++looks) MPI_Improbe(before, 5, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&token, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static const struct {
  const char* call;
  void (*take)(void);
} ways[] = {{"MPI_Test", by_test},
            {"MPI_Testany", by_testany},
            {"MPI_Request_get_status", by_get_status},
            {"MPI_Iprobe", by_iprobe},
            {"MPI_Improbe", by_improbe}};

static int compare(const void* a, const void* b) {
  const long x = *(const long*)a, y = *(const long*)b;
  return (x > y) - (x < y);
}

/* Looks of all ranks for each step, in the median round: another program may have had the
   processor of the rank with the token in some. */
static long looks_by(void (*take)(void)) {
  long mine[rounds], all[rounds];
  for (int i = 0; i < rounds; ++i) {
    MPI_Request request;
    int flag = 0, sent = i * size + rank;
    looks = 0;
    if (rank != 0) take();
    CHECK(rank == 0 || token == sent - 1);
    MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &request);
    if (rank == 0) take();
    CHECK(rank != 0 || token == (i + 1) * size - 1);
    for (; !flag; ++looks) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    mine[i] = looks;
  }
  MPI_Allreduce(mine, all, rounds, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  qsort(all, rounds, sizeof all[0], compare);
  return all[rounds / 2] / size;
}

static int ranks_here(void) {
  MPI_Comm node;
  int count = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &count);
  MPI_Comm_free(&node);
  return count;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  before = (rank + size - 1) % size;
  const int crowded = ranks_here() > sysconf(_SC_NPROCESSORS_ONLN);
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
    const long median = looks_by(ways[i].take);
    if (rank == 0) printf("%s: %ld looks a step\n", ways[i].call, median);
    CHECK(!crowded || median <= most_looks);
  }
  MPI_Finalize();
  return 0;
}
