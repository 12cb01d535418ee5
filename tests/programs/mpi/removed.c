// SPDX-License-Identifier: BSD-3-Clause
/* The functions of MPI-1 that MPI-3.0 removed, as old programs call them. */
#include "check.h"
#include <stddef.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int handled = 0;
static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

int main(int argc, char** argv) {
  struct item {
    double x;
    int n;
  } in[2] = {{1.5, 3}, {2.5, 4}}, out[2] = {{0, 0}, {0, 0}};
  int lengths[2] = {1, 1}, rank = 0;
  MPI_Aint at[2], base, extent = 0, lower = -1, upper = 0;
  MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT}, item, row, some;
  MPI_Errhandler mine, before, now;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Address(&in[0], &base);
  MPI_Address(&in[0].x, &at[0]);
  MPI_Address(&in[0].n, &at[1]);
  at[0] -= base;
  at[1] -= base;
  CHECK(at[0] == offsetof(struct item, x) && at[1] == offsetof(struct item, n));
  CHECK(MPI_Type_struct(2, lengths, at, types, &item) == MPI_SUCCESS);
  MPI_Type_commit(&item);
  MPI_Type_extent(item, &extent);
  MPI_Type_lb(item, &lower);
  MPI_Type_ub(item, &upper);
  CHECK(extent == sizeof(struct item) && lower == 0 && upper == extent);
  MPI_Sendrecv(in, 2, item, rank, 0, out, 2, item, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(out[1].x == 2.5 && out[1].n == 4);
  CHECK(MPI_Type_hvector(2, 1, 32, MPI_INT, &row) == MPI_SUCCESS);
  MPI_Type_extent(row, &extent);
  CHECK(extent == 36);
  at[0] = 8;
  at[1] = 20;
  CHECK(MPI_Type_hindexed(2, lengths, at, MPI_INT, &some) == MPI_SUCCESS);
  MPI_Type_lb(some, &lower);
  MPI_Type_ub(some, &upper);
  CHECK(lower == 8 && upper == 24);
  MPI_Errhandler_create(handler, &mine);
  MPI_Errhandler_get(MPI_COMM_WORLD, &before);
  MPI_Errhandler_set(MPI_COMM_WORLD, mine);
  MPI_Errhandler_get(MPI_COMM_WORLD, &now);
  CHECK(now == mine && before == MPI_ERRORS_ARE_FATAL);
  MPI_Send(&rank, 1, MPI_INT, 1 << 20, 0, MPI_COMM_WORLD);
  CHECK(handled == 1);
  CHECK(PMPI_Type_struct(1, lengths, at, types, &types[1]) == MPI_SUCCESS);
  MPI_Type_free(&types[1]);
  MPI_Type_free(&item);
  MPI_Type_free(&row);
  MPI_Type_free(&some);
  MPI_Finalize();
  return 0;
}
