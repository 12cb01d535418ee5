// SPDX-License-Identifier: BSD-3-Clause
// The same exchanges as coarray.f90, by messages: what a put is beside a send and a receive. Rows
// have the names of the coarray statements they stand beside.
#include "../common/line.h"

enum { most_variables = 8, most_bytes = 1 << 20 };
static char *outgoing, *incoming, *parts[most_variables];
static int variables;
static double *sums, *totals, *own, *ghost;
static int rank, bytes;
static MPI_Request requests[2 * most_variables];

static void send_receive(int count) {
  const int peer = 1 - rank;
  for (int i = 0; i < count; ++i) {
    if (rank == 0) MPI_Send(outgoing, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(incoming, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(outgoing, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
  }
}

static void variables_blocking(int count) {
  const int peer = 1 - rank;
  for (int i = 0; i < 2 * count; ++i) {
    for (int k = 0; k < variables; ++k) {
      if ((i + rank) % 2 == 0) {
        MPI_Send(outgoing, bytes, MPI_BYTE, peer, k, MPI_COMM_WORLD);
      } else {
        MPI_Recv(parts[k], bytes, MPI_BYTE, peer, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
  }
}

static void variables_nonblocking(int count) {
  const int peer = 1 - rank;
  for (int i = 0; i < 2 * count; ++i) {
    for (int k = 0; k < variables; ++k) {
      if ((i + rank) % 2 == 0) {
        MPI_Isend(outgoing, bytes, MPI_BYTE, peer, k, MPI_COMM_WORLD, &requests[k]);
      } else {
        MPI_Irecv(parts[k], bytes, MPI_BYTE, peer, k, MPI_COMM_WORLD, &requests[k]);
      }
    }
    MPI_Waitall(variables, requests, MPI_STATUSES_IGNORE);
  }
}

static void barrier(int count) {
  for (int i = 0; i < count; ++i) MPI_Barrier(MPI_COMM_WORLD);
}

// What tells two ranks of each other, without data.
static void pair(int count) {
  const int peer = 1 - rank;
  for (int i = 0; i < count; ++i) {
    MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, 1, NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

static void add_up(int count) {
  for (int i = 0; i < count; ++i) {
    MPI_Allreduce(sums, totals, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

static int stride;

static void halo(int count) {
  const int peer = 1 - rank, n = bytes / 8;
  double packed[128];
  for (int i = 0; i < count; ++i) {
    MPI_Irecv(ghost, n, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &requests[0]);
    for (int k = 0; k < n; ++k) packed[k] = own[k * stride];
    MPI_Isend(packed, n, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

// What rank 0 measures of a repetition, divided by `parts`. Each sample is the median of its share
// of the batches, with the line's trip before it; with `moved` bytes, if any, also GB/s.
static void measure(void (*act)(int), double budget_ms, const char* name, const char* params,
                    int parts, int moved) {
  enum { first = 20, second = 50, most = 5 };
  double ns[most_batches];
  act(first);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = now_ns();
  act(second);
  plan p = make_plan((now_ns() - begin) / second, budget_ms);
  MPI_Bcast(&p, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const int samples = p.batches < most ? p.batches : most, batches = p.batches / samples;
  for (int s = 0; s < samples; ++s) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double line = line_trip(rank);
    for (int b = 0; b < batches; ++b) {
      begin = now_ns();
      act(p.repetitions);
      ns[b] = (now_ns() - begin) / p.repetitions;
    }
    const double us = median(ns, batches) / 1e3 / parts;
    if (rank != 0) continue;
    report_sample(name, "latency", "us", params, us, line);
    if (moved > 0) report_sample(name, "bandwidth", "GB/s", params, moved / us / 1e3, line);
  }
}

static void each_number_of_variables(const options* o) {
  static const struct {
    const char* name;
    void (*run)(int);
  } ways[] = {{"blocking", variables_blocking}, {"nonblocking", variables_nonblocking}};
  char params[64];
  for (variables = 1; variables <= most_variables; variables *= 2) {
    for (int w = 0; w < 2; ++w) {
      snprintf(params, sizeof params, "bytes=%d,variables=%d,way=%s", bytes, variables,
               ways[w].name);
      measure(ways[w].run, o->budget_ms, "put-variables", params, 2,
              variables == most_variables ? variables * bytes : 0);
    }
  }
}

static void each_size(const options* o) {
  char params[64];
  for (int i = 0; i < o->size_count; ++i) {
    bytes = o->sizes[i];
    snprintf(params, sizeof params, "bytes=%d", bytes);
    measure(send_receive, o->budget_ms, "put", params, 2, bytes >= 32768 ? bytes : 0);
    if (bytes <= most_bytes) each_number_of_variables(o);
  }
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  rank = start(&argc, &argv, &o, 2);
  line_open(rank);
  const int largest = largest_size(&o, 8);
  outgoing = make_buffer((size_t)largest, 1);
  incoming = make_buffer((size_t)largest, 2);
  for (int k = 0; k < most_variables; ++k) parts[k] = make_buffer(most_bytes, k);
  sums = (double*)make_buffer(4 << 20, 0);
  totals = (double*)make_buffer(4 << 20, 0);
  own = (double*)make_buffer(32768, 0);
  ghost = (double*)make_buffer(32768, 0);
  each_size(&o);
  const int lengths[] = {8, 8192, 4 << 20};
  measure(barrier, o.budget_ms, "sync-all", "images=2", 1, 0);
  measure(pair, o.budget_ms, "sync-images", "images=2", 1, 0);
  for (int i = 0; i < 3; ++i) {
    char params[64];
    bytes = lengths[i];
    snprintf(params, sizeof params, "bytes=%d", bytes);
    measure(add_up, o.budget_ms, "co-sum", params, 1, 0);
  }
  bytes = 1024;
  stride = 1;
  measure(halo, o.budget_ms, "halo", "bytes=1024,kind=section", 1, 0);
  bytes = 128;
  stride = 4;
  measure(halo, o.budget_ms, "halo", "bytes=128,kind=elements", 1, 0);
  MPI_Finalize();
  return 0;
}
