// Latency between two ranks, medians of batches. one-way: they bounce a message; half of the round
// trip. exchange: both send and receive at once, as neighbours do with their boundaries.
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

static void exchange(int rank, int bytes, int count) {
  const int peer = 1 - rank;
  for (int i = 0; i < count; ++i) {
    MPI_Request r[2];
    MPI_Irecv(incoming, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(outgoing, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  }
}

static const struct pattern {
  const char* name;
  void (*run)(int rank, int bytes, int count);
  int messages;  // one after the other, in a repetition
} one_way = {"one-way", bounce, 2}, both_ways = {"exchange", exchange, 1};

static void measure(const struct pattern* what, int rank, int bytes, const options* o) {
  enum { first = 20, second = 200 };
  plan p;
  double samples[most_batches];
  what->run(rank, bytes, first);
  double begin = now_ns();
  what->run(rank, bytes, second);
  p = make_plan((now_ns() - begin) / second, o->budget_ms);
  MPI_Bcast(&p, 2, MPI_INT, 0, MPI_COMM_WORLD);
  what->run(rank, bytes, p.repetitions);
  for (int b = 0; b < p.batches; ++b) {
    begin = now_ns();
    what->run(rank, bytes, p.repetitions);
    samples[b] = (now_ns() - begin) / p.repetitions / what->messages;
  }
  if (rank == 0) {
    char params[64];
    snprintf(params, sizeof params, "bytes=%d%s", bytes,
             o->thread_multiple ? ",thread=multiple" : "");
    report(what->name, "latency", "ns", params, median(samples, p.batches));
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
    for (int i = 0; i < o.size_count; ++i) measure(&one_way, rank, o.sizes[i], &o);
    for (int i = 0; i < o.size_count; ++i) measure(&both_ways, rank, o.sizes[i], &o);
  }
  MPI_Finalize();
  free(outgoing);
  free(incoming);
  return 0;
}
