/* SPDX-License-Identifier: BSD-3-Clause */
// The one-way trip of a cache line between two processes, in shared memory of their own, hence
// alike under every library. A hypervisor may move the processors of a machine between places that
// are near or far from each other every few seconds; whoever is measured while they are far looks
// several times slower. So each sample is printed together with the trip that was measured
// immediately before it, and only samples with like trips are compared.
//
// The first process makes memory without a name, which the second opens by the first one's
// descriptor; nothing can be left behind. How they tell each other is their affair: line.h does it
// by MPI, measure.f90 by MPI in Fortran, images.f90 by coarrays.
#ifndef SINEW_BENCH_TRIP_H
#define SINEW_BENCH_TRIP_H

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numbers.h"

enum {
  trip_page = 4096,
  trip_batches = 5,
  trip_count = 200,     // there and back, in a batch
  trip_polls = 20000,   // in vain, then the processor is given away once
  trip_patience_s = 30  // without an answer, then it is given up
};

typedef struct {
  _Atomic long there;
  char gap[256 - sizeof(long)];  // two lines apart, for the prefetcher of pairs
  _Atomic long back;
  int owner;  // the first process: on another host the same number may be anybody
} trip_words;

static struct {
  trip_words* shared;  // null: they have no memory in common
  int file;
  long number;  // of the last trip
} trip_state = {NULL, -1, 0};

static inline trip_words* trip_map(int file) {
  void* at = mmap(NULL, trip_page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? NULL : (trip_words*)at;
}

// The first process: what the second one needs, its process and descriptor (-1 if there is none).
static inline void trip_make(int whose[2]) {
  whose[0] = (int)getpid();
  whose[1] = -1;
  trip_state.file = (int)syscall(SYS_memfd_create, "sinew-bench-line", 0u);
  if (trip_state.file >= 0 && ftruncate(trip_state.file, trip_page) == 0) {
    trip_state.shared = trip_map(trip_state.file);
  }
  if (trip_state.shared != NULL) {
    trip_state.shared->owner = whose[0];
    whose[1] = trip_state.file;
  }
}

// The second process; returns whether it has that memory: not on another host, say.
static inline int trip_join(const int whose[2]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", whose[0], whose[1]);
  trip_state.file = whose[1] >= 0 ? open(path, O_RDWR) : -1;
  if (trip_state.file >= 0) trip_state.shared = trip_map(trip_state.file);
  return trip_state.shared != NULL && trip_state.shared->owner == whose[0];
}

// Both, once they know whether the second one has it.
static inline void trip_agree(int works) {
  if (trip_state.file >= 0) close(trip_state.file);
  if (!works) trip_state.shared = NULL;
}

// Whether the word got that value: no, if nobody answers. Acquire pairs with the partner's release:
// the word is the whole message. A partner that is not on a processor is given ours.
static inline int trip_await(_Atomic long* word, long value) {
  double since = 0;
  for (int polls = 1; atomic_load_explicit(word, memory_order_acquire) != value; ++polls) {
    if (polls % trip_polls != 0) continue;
    if (since == 0) since = now_ns();
    if (now_ns() - since > trip_patience_s * 1e9) return 0;
    sched_yield();
  }
  return 1;
}

// In ns, the median of few short batches; 0 where it is not known, negative if the other one does
// not answer. Both (0 and 1) call it at the same place, with nothing of theirs under way.
static inline double trip_measure(int which) {
  double ns[trip_batches];
  trip_words* const words = trip_state.shared;
  if (words == NULL) return 0;
  for (int b = -1; b < trip_batches; ++b) {  // the first one warms up
    const double begin = now_ns();
    for (int i = 0; i < trip_count; ++i) {
      const long n = ++trip_state.number;
      if (which == 0) atomic_store_explicit(&words->there, n, memory_order_release);
      if (!trip_await(which == 0 ? &words->back : &words->there, n)) return -1;
      if (which != 0) atomic_store_explicit(&words->back, n, memory_order_release);
    }
    if (b >= 0) ns[b] = (now_ns() - begin) / trip_count / 2;
  }
  return median(ns, trip_batches);
}

#endif
