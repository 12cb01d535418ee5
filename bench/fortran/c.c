// SPDX-License-Identifier: BSD-3-Clause
// The calls of f08.f90 in C, for the difference.
#include "../common/line.h"

static char outgoing[8], incoming[8];
static MPI_Request pending;
static int rank;

static void bounce(int count) {
  const int peer = 1 - rank;
  for (int i = 0; i < count; ++i) {
    if (rank == 0) {
      MPI_Send(outgoing, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
      MPI_Recv(incoming, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(incoming, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(outgoing, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
  }
}

static void test(int count) {
  int done;
  for (int i = 0; i < count; ++i) MPI_Test(&pending, &done, MPI_STATUS_IGNORE);
}

static void wait_for_none(int count) {
  for (int i = 0; i < count; ++i) {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Wait(&none, MPI_STATUS_IGNORE);
  }
}

static void run(void (*what)(int), const char* name, int messages, const options* o) {
  double ns[most_batches];
  what(20);
  double begin = now_ns();
  what(200);
  plan p = make_plan((now_ns() - begin) / 200, o->budget_ms);
  MPI_Bcast(&p, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const int samples = samples_of(&p), batches = p.batches / samples;
  for (int s = 0; s < samples; ++s) {
    const double line = line_trip(rank);
    what(p.repetitions < 20 ? p.repetitions : 20);
    for (int b = 0; b < batches; ++b) {
      begin = now_ns();
      what(p.repetitions);
      ns[b] = (now_ns() - begin) / p.repetitions / messages;
    }
    if (rank == 0) report_sample(name, "latency", "ns", "by=c", median(ns, batches), line);
  }
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  rank = start(&argc, &argv, &o, 2);
  line_open(rank);
  MPI_Irecv(incoming, 8, MPI_BYTE, rank, 99, MPI_COMM_WORLD, &pending);
  run(bounce, "one-way", 2, &o);
  run(test, "test", 1, &o);
  run(wait_for_none, "wait", 1, &o);
  MPI_Send(outgoing, 8, MPI_BYTE, rank, 99, MPI_COMM_WORLD);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
