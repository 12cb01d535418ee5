// SPDX-License-Identifier: BSD-3-Clause
/* A profiler by MPI's profiling interface: which calls a program makes, how often, and how long
 * they take. Each function here stands before the one of the library, and calls it by its name with
 * a P. As a shared library it needs no change of the program:
 *
 *   mpicc.sinew -shared -fPIC -O2 examples/mpi_profile.c -o libmpi_profile.so
 *   sinew run -n 4 -x LD_PRELOAD=$PWD/libmpi_profile.so ./program
 *
 * At MPI_Finalize rank 0 prints, for each function that was called, the calls of all ranks and the
 * least, mean and largest time that a rank has spent there. One thread calls at a time: with
 * MPI_THREAD_MULTIPLE the figures may miss calls. To profile another function add its line. */
#include <mpi.h>
#include <stdio.h>

#define ARGS(...) (__VA_ARGS__)
/* of(name, parameters, arguments) */
#define FUNCTIONS(of)                                                                              \
  of(Send, ARGS(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),                \
     ARGS(b, n, t, to, tag, c))                                                                    \
      of(Recv, ARGS(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s), \
         ARGS(b, n, t, from, tag, c, s)) of(Isend,                                                 \
                                            ARGS(const void* b, int n, MPI_Datatype t, int to,     \
                                                 int tag, MPI_Comm c, MPI_Request* r),             \
                                            ARGS(b, n, t, to, tag, c, r))                          \
          of(Irecv,                                                                                \
             ARGS(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),  \
             ARGS(b, n, t, from, tag, c, r))                                                       \
              of(Sendrecv,                                                                         \
                 ARGS(const void* b, int n, MPI_Datatype t, int to, int tag, void* b2, int n2,     \
                      MPI_Datatype t2, int from, int tag2, MPI_Comm c, MPI_Status* s),             \
                 ARGS(b, n, t, to, tag, b2, n2, t2, from, tag2, c,                                 \
                      s)) of(Wait, ARGS(MPI_Request* r, MPI_Status* s), ARGS(r, s))                \
                  of(Waitall, ARGS(int n, MPI_Request r[], MPI_Status s[]), ARGS(n, r, s)) of(     \
                      Test, ARGS(MPI_Request* r, int* flag, MPI_Status* s), ARGS(r, flag, s))      \
                      of(Probe, ARGS(int from, int tag, MPI_Comm c, MPI_Status* s),                \
                         ARGS(from, tag, c, s)) of(Barrier, ARGS(MPI_Comm c), ARGS(c))             \
                          of(Bcast, ARGS(void* b, int n, MPI_Datatype t, int root, MPI_Comm c),    \
                             ARGS(b, n, t, root, c)) of(Reduce,                                    \
                                                        ARGS(const void* b, void* b2, int n,       \
                                                             MPI_Datatype t, MPI_Op o, int root,   \
                                                             MPI_Comm c),                          \
                                                        ARGS(b, b2, n, t, o, root, c))             \
                              of(Allreduce,                                                        \
                                 ARGS(const void* b, void* b2, int n, MPI_Datatype t, MPI_Op o,    \
                                      MPI_Comm c),                                                 \
                                 ARGS(b, b2, n, t, o, c))                                          \
                                  of(Gather,                                                       \
                                     ARGS(const void* b, int n, MPI_Datatype t, void* b2, int n2,  \
                                          MPI_Datatype t2, int root, MPI_Comm c),                  \
                                     ARGS(b, n, t, b2, n2, t2, root, c))                           \
                                      of(Allgather,                                                \
                                         ARGS(const void* b, int n, MPI_Datatype t, void* b2,      \
                                              int n2, MPI_Datatype t2, MPI_Comm c),                \
                                         ARGS(b, n, t, b2, n2, t2, c))                             \
                                          of(Alltoall,                                             \
                                             ARGS(const void* b, int n, MPI_Datatype t, void* b2,  \
                                                  int n2, MPI_Datatype t2, MPI_Comm c),            \
                                             ARGS(b, n, t, b2, n2, t2, c))                         \
                                              of(Put,                                              \
                                                 ARGS(const void* b, int n, MPI_Datatype t,        \
                                                      int to, MPI_Aint at, int n2,                 \
                                                      MPI_Datatype t2, MPI_Win w),                 \
                                                 ARGS(b, n, t, to, at, n2, t2, w))                 \
                                                  of(Get,                                          \
                                                     ARGS(void* b, int n, MPI_Datatype t,          \
                                                          int from, MPI_Aint at, int n2,           \
                                                          MPI_Datatype t2, MPI_Win w),             \
                                                     ARGS(b, n, t, from, at, n2, t2, w))           \
                                                      of(Win_fence,                                \
                                                         ARGS(int assertion, MPI_Win w),           \
                                                         ARGS(assertion, w))                       \
                                                          of(Comm_dup,                             \
                                                             ARGS(MPI_Comm c, MPI_Comm* made),     \
                                                             ARGS(c, made))                        \
                                                              of(Comm_split,                       \
                                                                 ARGS(MPI_Comm c, int color,       \
                                                                      int key, MPI_Comm* made),    \
                                                                 ARGS(c, color, key, made))

#define NUMBER(name, parameters, arguments) number_##name,
enum { FUNCTIONS(NUMBER) functions };
#define NAME(name, parameters, arguments) "MPI_" #name,
static const char* const names[] = {FUNCTIONS(NAME)};

static long long calls[functions];
static double seconds[functions];

#define WRAPPER(name, parameters, arguments)        \
  int MPI_##name parameters {                       \
    const double begin = PMPI_Wtime();              \
    const int code = PMPI_##name arguments;         \
    seconds[number_##name] += PMPI_Wtime() - begin; \
    ++calls[number_##name];                         \
    return code;                                    \
  }
FUNCTIONS(WRAPPER)

int MPI_Finalize(void) {
  long long all[functions];
  double least[functions], sum[functions], most[functions];
  int rank, size;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Reduce(calls, all, functions, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(seconds, least, functions, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  PMPI_Reduce(seconds, sum, functions, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(seconds, most, functions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%-16s %10s %12s %12s %12s\n", "function", "calls", "least [s]", "mean [s]", "most [s]");
    for (int i = 0; i < functions; ++i) {
      if (all[i] != 0) {
        printf("%-16s %10lld %12.6f %12.6f %12.6f\n", names[i], all[i], least[i], sum[i] / size,
               most[i]);
      }
    }
    fflush(stdout);
  }
  return PMPI_Finalize();
}
