// The one-way trip of a cache line between ranks 0 and 1, measured by these two processes in shared
// memory of their own, hence alike under every MPI. A hypervisor may move the processors of a
// machine between places that are near or far from each other every few seconds; whoever is
// measured while they are far looks several times slower. So each sample is printed together with
// the trip that was measured immediately before it, and only samples with like trips are compared.
#ifndef SINEW_BENCH_LINE_H
#define SINEW_BENCH_LINE_H

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure.h"

enum {
  line_page = 4096,
  line_batches = 5,
  line_trips = 200,         // there and back, in a batch
  line_polls = 20000,       // in vain, then the processor is given away once
  line_patience_ns_e9 = 30  // seconds without an answer, then the job is ended
};

typedef struct {
  _Atomic long there;
  char gap[256 - sizeof(long)];  // two lines apart, for the prefetcher of pairs
  _Atomic long back;
  int owner;  // rank 0's process: on another host the same number may be anybody
} line_words;

static struct {
  line_words* shared;  // null: the ranks have no memory in common
  long number;         // of the last trip
} line_state;

static inline line_words* line_map(int file) {
  void* at = mmap(NULL, line_page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? NULL : at;
}

// Rank 0 makes memory without a name, which rank 1 opens by rank 0's descriptor; nothing can be
// left behind. Both learn whether that worked: on two hosts, say, samples are without trips.
static inline void line_open(int rank) {
  int whose[2] = {(int)getpid(), -1}, works = 0, file = -1;
  if (rank > 1) return;
  if (rank == 0) {
    file = (int)syscall(SYS_memfd_create, "sinew-bench-line", 0u);
    if (file >= 0 && ftruncate(file, line_page) == 0) line_state.shared = line_map(file);
    if (line_state.shared != NULL) {
      line_state.shared->owner = whose[0];
      whose[1] = file;
    }
    MPI_Send(whose, 2, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(&works, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    char path[64];
    MPI_Recv(whose, 2, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", whose[0], whose[1]);
    file = whose[1] >= 0 ? open(path, O_RDWR) : -1;
    if (file >= 0) line_state.shared = line_map(file);
    works = line_state.shared != NULL && line_state.shared->owner == whose[0];
    MPI_Send(&works, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  if (file >= 0) close(file);
  if (!works) line_state.shared = NULL;
}

// Acquire pairs with the partner's release: the word is the whole message. A partner that is not on
// a processor is given ours; one that never answers ends the job.
static inline void line_await(_Atomic long* word, long value) {
  double since = 0;
  for (int polls = 1; atomic_load_explicit(word, memory_order_acquire) != value; ++polls) {
    if (polls % line_polls != 0) continue;
    if (since == 0) since = now_ns();
    if (now_ns() - since > line_patience_ns_e9 * 1e9) {
      stop_all("the other rank does not answer in shared memory (is it still alive?)");
    }
    sched_yield();
  }
}

// The trip in ns, the median of few short batches; 0 where it is not known. Ranks 0 and 1 call it
// at the same place, with nothing of theirs under way.
static inline double line_trip(int rank) {
  double ns[line_batches];
  if (rank > 1 || line_state.shared == NULL) return 0;
  line_words* const words = line_state.shared;
  for (int b = -1; b < line_batches; ++b) {  // the first one warms up
    const double begin = now_ns();
    for (int i = 0; i < line_trips; ++i) {
      const long n = ++line_state.number;
      if (rank == 0) {
        atomic_store_explicit(&words->there, n, memory_order_release);
        line_await(&words->back, n);
      } else {
        line_await(&words->there, n);
        atomic_store_explicit(&words->back, n, memory_order_release);
      }
    }
    if (b >= 0) ns[b] = (now_ns() - begin) / line_trips / 2;
  }
  return median(ns, line_batches);
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
