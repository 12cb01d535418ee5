/* SPDX-License-Identifier: BSD-3-Clause */
// Shared by the measuring programs: plain C and plain MPI, so that every implementation's wrapper
// compiles the same source. A program takes words "key=value" and prints lines
//   @ <case> <metric> <unit> <name=value,...|-> <value> [line=<ns>]
// which `sinew bench` reads, one for each sample; line.h says what the last word is. Everything
// else it prints is ignored.
#ifndef SINEW_BENCH_MEASURE_H
#define SINEW_BENCH_MEASURE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

enum { max_sizes = 32, most_batches = 200, most_samples = 10 };

typedef struct {
  int sizes[max_sizes];
  int size_count;
  double budget_ms;      // measuring time for each case or size
  int thread_multiple;   // ask for MPI_THREAD_MULTIPLE
  const char* only;      // the one case to run, or "" for all
} options;

static inline void stop_all(const char* message) {
  fprintf(stderr, "%s\n", message);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

// The whole numbers behind the word "key=...", with commas between; returns how many they are. What
// `to` holds is left alone, and 0 is returned, where there is no such word.
static inline int read_numbers(int argc, char** argv, const char* key, int* to, int most) {
  const size_t length = strlen(key);
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], key, length) != 0 || argv[i][length] != '=') continue;
    count = 0;
    for (char *at = argv[i] + length + 1, *end; *at && count < most; at = end + (*end == ',')) {
      to[count++] = (int)strtol(at, &end, 10);
      if (end == at || (*end && *end != ',')) break;
    }
  }
  return count;
}

static inline options read_options(int argc, char** argv) {
  options o = {{8}, 1, 50, 0, ""};
  for (int i = 1; i < argc; ++i) {
    char* word = argv[i];
    if (strncmp(word, "budget_ms=", 10) == 0) {
      o.budget_ms = atof(word + 10);
    } else if (strcmp(word, "thread=multiple") == 0) {
      o.thread_multiple = 1;
    } else if (strncmp(word, "case=", 5) == 0) {
      o.only = word + 5;
    }
  }
  const int count = read_numbers(argc, argv, "sizes", o.sizes, max_sizes);
  if (count > 0) o.size_count = count;
  return o;
}

// The largest of the sizes, and at least `least`.
static inline int largest_size(const options* o, int least) {
  for (int s = 0; s < o->size_count; ++s) {
    if (o->sizes[s] > least) least = o->sizes[s];
  }
  return least;
}

// MPI_Init, or MPI_Init_thread when asked; returns this rank. Ends the job when the thread level is
// not given or fewer than `least` ranks run. Rank 0 prints which library answers.
static inline int start(int* argc, char*** argv, const options* o, int least) {
  int rank, ranks, length, provided = MPI_THREAD_SINGLE;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  if (o->thread_multiple) {
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) stop_all("MPI_THREAD_MULTIPLE is not provided");
  } else {
    MPI_Init(argc, argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < least) stop_all("not enough ranks started as one job");
  if (rank == 0) {
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = 0;
    printf("@version %s\n", version);
    fflush(stdout);
  }
  return rank;
}

static inline void report(const char* name, const char* metric, const char* unit,
                          const char* params, double value) {
  printf("@ %s %s %s %s %.9g\n", name, metric, unit, params, value);
  fflush(stdout);
}

// A page-aligned buffer, written once so that its pages exist.
static inline char* make_buffer(size_t bytes, int fill) {
  void* p = NULL;
  if (posix_memalign(&p, 4096, bytes ? bytes : 1) != 0) stop_all("out of memory");
  memset(p, fill, bytes ? bytes : 1);
  return (char*)p;
}

// How long to measure: as many repetitions as make `batches` equal shares of the budget. Many short
// batches, because on a busy machine those that lost the processor are then few, and the median is
// none of them.
typedef struct {
  int batches;
  int repetitions;
} plan;

static inline plan make_plan(double ns_each, double budget_ms) {
  plan p = {most_batches, 1};
  const double budget_ns = budget_ms * 1e6;
  double each = budget_ns / p.batches / (ns_each > 1 ? ns_each : 1);
  if (each < 1) {
    p.batches = (int)(budget_ns / ns_each);
    if (p.batches < 3) p.batches = 3;
    each = 1;
  }
  p.repetitions = each > 20000 ? 20000 : (int)each;
  return p;
}

// A start gives so many samples, each the median of its share of the batches.
static inline int samples_of(const plan* p) {
  return p->batches < most_samples ? p->batches : most_samples;
}

#endif
