/* SPDX-License-Identifier: BSD-3-Clause */
// The clock and the median, for measuring programs with MPI and without.
#ifndef SINEW_BENCH_NUMBERS_H
#define SINEW_BENCH_NUMBERS_H

#include <stdlib.h>
#include <time.h>

static inline double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Sorts them.
static inline double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

#endif
