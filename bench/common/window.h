/* SPDX-License-Identifier: BSD-3-Clause */
// One direction, many messages under way: rank 0 starts a window of sends, rank 1 has the receives,
// and an empty answer closes the window. Used by `bandwidth` and `rate`.
#ifndef SINEW_BENCH_WINDOW_H
#define SINEW_BENCH_WINDOW_H

#include "line.h"

enum { window_length = 64 };

static inline void stream(int rank, char* buffer, int bytes, int windows) {
  MPI_Request requests[window_length];
  for (int w = 0; w < windows; ++w) {
    for (int i = 0; i < window_length; ++i) {
      if (rank == 0) {
        MPI_Isend(buffer, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[i]);
      } else {
        MPI_Irecv(buffer, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[i]);
      }
    }
    MPI_Waitall(window_length, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) {
      MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
  }
}

// Calls tell(bytes, ns of one message, line's trip) on rank 0 for each sample: the median of
// batches of whole windows.
static inline void stream_samples(int rank, char* buffer, int bytes, double budget_ms,
                                  void (*tell)(int bytes, double ns_each, double line_ns)) {
  plan p;
  double ns[most_batches];
  stream(rank, buffer, bytes, 2);
  double begin = now_ns();
  stream(rank, buffer, bytes, 4);
  p = make_plan((now_ns() - begin) / 4, budget_ms);
  MPI_Bcast(&p, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const int samples = samples_of(&p), batches = p.batches / samples;
  for (int s = 0; s < samples; ++s) {
    const double line = line_trip(rank);
    stream(rank, buffer, bytes, 1);
    for (int b = 0; b < batches; ++b) {
      begin = now_ns();
      stream(rank, buffer, bytes, p.repetitions);
      ns[b] = (now_ns() - begin) / p.repetitions / window_length;
    }
    if (rank == 0) tell(bytes, median(ns, batches), line);
  }
}

#endif
