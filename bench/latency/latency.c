// One-way latency: two ranks bounce a message; half of the round trip, median of batches.
#include "../common/measure.h"

static char *outgoing, *incoming;

static void bounce(int rank, int bytes, int count) {
  const int peer = 1 - rank;
  for (int i = 0; i < count; ++i) {
    if (rank == 0) {
      MPI_Send(outgoing, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
      MPI_Recv(incoming, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(incoming, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(outgoing, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
  }
}

static void measure(int rank, int bytes, const options* o) {
  enum { first = 20, second = 200 };
  plan p;
  double samples[most_batches];
  bounce(rank, bytes, first);
  double begin = now_ns();
  bounce(rank, bytes, second);
  p = make_plan((now_ns() - begin) / second, o->budget_ms);
  MPI_Bcast(&p, 2, MPI_INT, 0, MPI_COMM_WORLD);
  bounce(rank, bytes, p.repetitions);
  for (int b = 0; b < p.batches; ++b) {
    begin = now_ns();
    bounce(rank, bytes, p.repetitions);
    samples[b] = (now_ns() - begin) / p.repetitions / 2;
  }
  if (rank == 0) {
    char params[64];
    snprintf(params, sizeof params, "bytes=%d%s", bytes,
             o->thread_multiple ? ",thread=multiple" : "");
    report("one-way", "latency", "ns", params, median(samples, p.batches));
  }
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  const int rank = start(&argc, &argv, &o, 2);
  int largest = 1;
  for (int i = 0; i < o.size_count; ++i) {
    if (o.sizes[i] > largest) largest = o.sizes[i];
  }
  outgoing = make_buffer((size_t)largest, 1);
  incoming = make_buffer((size_t)largest, 2);
  if (rank < 2) {
    for (int i = 0; i < o.size_count; ++i) measure(rank, o.sizes[i], &o);
  }
  MPI_Finalize();
  free(outgoing);
  free(incoming);
  return 0;
}
