// SPDX-License-Identifier: BSD-3-Clause
/* The blocking collectives and their operations. Any rank count. */
#include "check.h"

static int rank, size;

/* Matrices of 2 x 2 multiply, which does not commute. */
static void multiply(void* in, void* inout, int* n, MPI_Datatype* type) {
  const int* a = (const int*)in;
  int* b = (int*)inout;
  (void)type;
  for (int i = 0; i < *n; ++i, a += 4, b += 4) {
    const int c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                      a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
    memcpy(b, c, sizeof c);
  }
}

static void product(int upto, int* m) {
  const int one[4] = {1, 0, 0, 1};
  memcpy(m, one, sizeof one);
  for (int r = upto; r >= 0; --r) {
    int a[4] = {1, r + 1, 0, 1 + r % 2}, n = 1;
    multiply(a, m, &n, NULL);
  }
}

static void reductions(void) {
  int mine[4] = {1, rank + 1, 0, 1 + rank % 2}, got[4] = {0}, want[4], sum = 0, commutes = 1;
  MPI_Datatype matrix;
  MPI_Op op;
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op_create(multiply, 0, &op);
  MPI_Op_commutative(op, &commutes);
  CHECK(!commutes);
  product(size - 1, want);
  MPI_Allreduce(mine, got, 1, matrix, op, MPI_COMM_WORLD);
  CHECK(memcmp(got, want, sizeof want) == 0);
  memset(got, 0, sizeof got);
  MPI_Reduce(mine, got, 1, matrix, op, size - 1, MPI_COMM_WORLD);
  CHECK(rank != size - 1 || memcmp(got, want, sizeof want) == 0);
  product(rank, want);
  MPI_Scan(mine, got, 1, matrix, op, MPI_COMM_WORLD);
  CHECK(memcmp(got, want, sizeof want) == 0);
  MPI_Exscan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(rank == 0 || sum == rank * (rank - 1) / 2);
  struct { double value; int where; } at = {rank % 2 ? -1.0 : 1.0, rank}, least;
  MPI_Allreduce(&at, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(least.where == (size > 1 ? 1 : 0));
  MPI_Op_free(&op);
  MPI_Type_free(&matrix);
}

static void moves(void) {
  int* all = (int*)malloc(sizeof(int) * (size_t)(size * size + size));
  int* counts = (int*)malloc(sizeof(int) * (size_t)size);
  int* places = (int*)malloc(sizeof(int) * (size_t)size);
  int x = rank == 0 ? 42 : 0, own = -1;
  MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(x == 42);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) CHECK(all[r] == r);
  for (int r = 0; r < size; ++r) all[r] = 100 * rank + r;
  MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) CHECK(all[r] == 100 * r + rank);
  for (int r = 0; r < size; ++r) {
    counts[r] = r + 1;
    places[r] = r * (r + 1) / 2;
  }
  int mine[64];
  for (int i = 0; i <= rank; ++i) mine[i] = rank;
  MPI_Gatherv(mine, rank + 1, MPI_INT, all, rank == 0 ? counts : NULL, rank == 0 ? places : NULL,
              MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int r = 0; r < size; ++r) CHECK(all[places[r]] == r && all[places[r] + r] == r);
  }
  MPI_Scatter(rank == 0 ? all : NULL, 1, MPI_INT, &own, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(own >= 0 && own < size);
  for (int r = 0; r < size; ++r) all[r] = r;
  MPI_Reduce_scatter_block(all, &own, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(own == rank * size);
  free(all);
  free(counts);
  free(places);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  reductions();
  moves();
  MPI_Finalize();
  return 0;
}
