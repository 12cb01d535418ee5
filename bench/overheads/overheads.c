// SPDX-License-Identifier: BSD-3-Clause
// A rank's own time for a message between two ranks (LogP's o). send: the call, with nothing of
// ours under way. receive: the call for a message that has come, so that nobody waits in it.
#include "../common/measure.h"

// Long enough for an answer to come meanwhile: so many times the round trip.
enum { patience = 3 };

typedef struct {
  double send_ns;
  double receive_ns;
} overhead;

// A round: rank 0 sends, does without the library until the answer must have come, and takes it.
// Its own calls last so long.
static overhead ask(char* buffer, int bytes, double pause_ns) {
  overhead it;
  double begin = now_ns();
  MPI_Send(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  const double sent = now_ns();
  it.send_ns = sent - begin;
  while (now_ns() - sent < pause_ns) {
  }
  begin = now_ns();
  MPI_Recv(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  it.receive_ns = now_ns() - begin;
  return it;
}

static void answer(char* buffer, int bytes, int count) {
  for (int i = 0; i < count; ++i) {
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

static double round_trip_ns(char* buffer, int bytes, int count) {
  const double begin = now_ns();
  for (int i = 0; i < count; ++i) {
    (void)ask(buffer, bytes, 0);
  }
  return (now_ns() - begin) / count;
}

static void measure(int rank, int bytes, const options* o) {
  enum { first = 100, most_rounds = 20 };
  char* const buffer = make_buffer((size_t)bytes, rank);
  double trip = 0, send_ns[most_rounds], receive_ns[most_rounds];
  int samples = 0;
  if (rank == 0) {
    trip = round_trip_ns(buffer, bytes, first);
    const double each = (patience + 1) * trip * most_rounds;
    samples = (int)(o->budget_ms * 1e6 / each);
    samples = samples < 1 ? 1 : samples > most_samples ? most_samples : samples;
  } else {
    answer(buffer, bytes, first);
  }
  MPI_Bcast(&samples, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int s = 0; s < samples; ++s) {
    if (rank == 1) {
      answer(buffer, bytes, most_rounds);
      continue;
    }
    for (int i = 0; i < most_rounds; ++i) {
      const overhead it = ask(buffer, bytes, patience * trip);
      send_ns[i] = it.send_ns;
      receive_ns[i] = it.receive_ns;
    }
    char params[32];
    snprintf(params, sizeof params, "bytes=%d", bytes);
    report("send", "time", "ns", params, median(send_ns, most_rounds));
    report("receive", "time", "ns", params, median(receive_ns, most_rounds));
  }
  free(buffer);
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  const int rank = start(&argc, &argv, &o, 2);
  for (int i = 0; i < o.size_count && rank < 2; ++i) {
    measure(rank, o.sizes[i], &o);
  }
  MPI_Finalize();
  return 0;
}
