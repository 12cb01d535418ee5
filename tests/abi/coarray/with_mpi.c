// SPDX-License-Identifier: BSD-3-Clause
/* Coarrays and MPI in one program: one job, one rank, messages of both kinds in turns. */
#include <mpi.h>
#include <stdlib.h>

#include "compiled.h"

int _gfortran_caf_this_image(int);
int _gfortran_caf_num_images(int, int);
void _gfortran_caf_sync_memory(int*, char*, size_t);
void _gfortran_caf_send(void*, size_t, int, array*, void*, array*, int, int, bool, int*, void**);

enum { block = 1 << 18 };
static void* token;
static int* x;

__attribute__((constructor)) static void before_main(void) {
  array a = scalar_of(NULL);
  _gfortran_caf_register(block * 4, 0, &token, &a, NULL, NULL, 0);
  x = a.base;
}

static void rounds(int me, int n) {
  static int big[block];
  const int next = me % n + 1, before = (me + n - 2) % n + 1;
  for (int i = 0; i < 20; ++i) {
    int value = 1000 * me + i;
    array from = scalar_of(&value), to = scalar_of(x);
    _gfortran_caf_send(token, 0, next, &to, NULL, &from, 4, 4, false, NULL, NULL);
    big[i] = value;
    MPI_Sendrecv_replace(big, i % 2 ? block : 32, MPI_INT, next - 1, i, before - 1, i,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(big[i] == 1000 * before + i);
    _gfortran_caf_sync_all(NULL, NULL, 0);
    EXPECT(x[0] == 1000 * before + i);
    int a = me, b = 0;
    array sum = scalar_of(&a);
    _gfortran_caf_co_sum(&sum, 0, NULL, NULL, 0);
    MPI_Allreduce(&me, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(a == b);
    /* The sums have come from all: nobody reads x any more. */
    _gfortran_caf_sync_memory(NULL, NULL, 0);
  }
}

int main(int argc, char** argv) {
  _gfortran_caf_init(&argc, &argv);
  const int me = _gfortran_caf_this_image(0), n = _gfortran_caf_num_images(0, -1);
  int provided = -1, rank = -1, size = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  /* Between nodes a helper thread serves images, so that all threads may call. */
  EXPECT(provided == (getenv("SINEW_FABRIC_NODES") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT(rank == me - 1 && size == n);
  rounds(me, n);
  MPI_Finalize();
  _gfortran_caf_sync_all(NULL, NULL, 0);
  return finish();
}
