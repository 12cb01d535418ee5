// SPDX-License-Identifier: BSD-3-Clause
// Latency between two ranks; a sample is the median of batches. one-way: they bounce a message;
// half of the round trip. Its tail: half of the 99th percentile of round trips timed one by one.
// exchange: both send and receive at once, as neighbours do with their boundaries.
#include "../common/line.h"

enum { page = 4096, unlucky = 16 };  // bytes behind a page's beginning

static char *outgoing, *incoming;
static int offset;  // of the outgoing buffer

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

static void tell(const char* name, const char* metric, int bytes, const options* o, double ns,
                 double line_ns) {
  char params[64];
  snprintf(params, sizeof params, "bytes=%d%s%s", bytes, offset != 0 ? ",offset=16" : "",
           o->thread_multiple ? ",thread=multiple" : "");
  report_sample(name, metric, "ns", params, ns, line_ns);
}

static void measure(const struct pattern* what, int rank, int bytes, const options* o) {
  enum { first = 20, second = 200 };
  plan p;
  double ns[most_batches];
  what->run(rank, bytes, first);
  double begin = now_ns();
  what->run(rank, bytes, second);
  p = make_plan((now_ns() - begin) / second, o->budget_ms);
  MPI_Bcast(&p, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const int samples = samples_of(&p), batches = p.batches / samples;
  for (int s = 0; s < samples; ++s) {
    const double line = line_trip(rank);
    what->run(rank, bytes, p.repetitions < first ? p.repetitions : first);
    for (int b = 0; b < batches; ++b) {
      begin = now_ns();
      what->run(rank, bytes, p.repetitions);
      ns[b] = (now_ns() - begin) / p.repetitions / what->messages;
    }
    if (rank == 0) tell(what->name, "latency", bytes, o, median(ns, batches), line);
  }
}

// The clock, read once a round trip, is in each of them: about a tenth of the shortest.
static void measure_tail(int rank, int bytes, const options* o) {
  enum { most = 1000, least = 200, first = 20 };
  static double ns[most];
  double begin = now_ns();
  one_way.run(rank, bytes, first);
  int trips = (int)(o->budget_ms * 1e6 / most_samples / ((now_ns() - begin) / first + 1));
  trips = trips > most ? most : trips < least ? least : trips;
  MPI_Bcast(&trips, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int s = 0; s < most_samples; ++s) {
    const double line = line_trip(rank);
    one_way.run(rank, bytes, first);
    begin = now_ns();
    for (int i = 0; i < trips; ++i) {
      one_way.run(rank, bytes, 1);
      const double end = now_ns();
      ns[i] = (end - begin) / 2;
      begin = end;
    }
    qsort(ns, (size_t)trips, sizeof *ns, compare_doubles);
    if (rank == 0) tell(one_way.name, "latency_p99", bytes, o, ns[trips * 99 / 100], line);
  }
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  const int rank = start(&argc, &argv, &o, 2);
  int largest = 1;
  for (int i = 0; i < o.size_count; ++i) {
    if (o.sizes[i] > largest) largest = o.sizes[i];
  }
  line_open(rank);
  outgoing = make_buffer((size_t)largest + unlucky, 1);
  incoming = make_buffer((size_t)largest, 2);
  if (rank < 2) {
    for (int i = 0; i < o.size_count; ++i) measure(&one_way, rank, o.sizes[i], &o);
    for (int i = 0; i < o.size_count; ++i) measure(&both_ways, rank, o.sizes[i], &o);
    for (int i = 0; i < o.size_count; ++i) {
      if (o.sizes[i] <= 65536) measure_tail(rank, o.sizes[i], &o);
    }
    offset = unlucky;  // some processors copy much more slowly between such addresses
    outgoing += offset;
    for (int i = 0; i < o.size_count; ++i) {
      if (o.sizes[i] >= page && o.sizes[i] <= 65536) measure(&one_way, rank, o.sizes[i], &o);
    }
    outgoing -= offset;
  }
  MPI_Finalize();
  free(outgoing);
  free(incoming);
  return 0;
}
