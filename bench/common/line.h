/* SPDX-License-Identifier: BSD-3-Clause */
// The trip of a cache line between ranks 0 and 1 (trip.h says why), and samples with it.
#ifndef SINEW_BENCH_LINE_H
#define SINEW_BENCH_LINE_H

#include "measure.h"
#include "trip.h"

// Called by all ranks once; on two hosts samples are without trips, and on two simulated ones,
// whose processes could have memory in common.
static inline void line_open(int rank) {
  int whose[2], works = 0, rank_here;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank_here);
  MPI_Comm_free(&node);
  if (rank > 1) return;
  if (rank == 0) {
    trip_make(whose);
    MPI_Send(whose, 2, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(&works, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(whose, 2, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    works = rank_here == 1 && trip_join(whose);
    MPI_Send(&works, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  trip_agree(works);
}

// The trip in ns; 0 where it is not known. Ranks 0 and 1 call it at the same place, with nothing of
// theirs under way.
static inline double line_trip(int rank) {
  const double ns = rank > 1 ? 0 : trip_measure(rank);
  if (ns < 0) stop_all("the other rank does not answer in shared memory (is it still alive?)");
  return ns;
}

// A sample with the trip that was measured before it.
static inline void report_sample(const char* name, const char* metric, const char* unit,
                                 const char* params, double value, double line_ns) {
  if (line_ns > 0) {
    printf("@ %s %s %s %s %.9g line=%.4g\n", name, metric, unit, params, value, line_ns);
    fflush(stdout);
  } else {
    report(name, metric, unit, params, value);
  }
}

#endif
