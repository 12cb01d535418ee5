// SPDX-License-Identifier: BSD-3-Clause
/* MPI_Dims_create: the most even product there is, held to one found by trying all; and large
 * numbers, for which trying every number would take for ever. */
#include "check.h"
#include <limits.h>

static int best;

/* The smallest difference of first and last in any product of `left` more factors. */
static void try_all(int rest, int left, int first, int most) {
  if (left == 1) {
    const int difference = first == 0 ? 0 : first - rest;
    if (rest <= most && difference < best) best = difference;
    return;
  }
  for (int f = 1; f <= rest && f <= most; ++f) {
    if (rest % f == 0) try_all(rest / f, left - 1, first == 0 ? f : first, f);
  }
}

static int spread(int n, int count) {
  int dims[16] = {0};
  long long product = 1;
  CHECK(MPI_Dims_create(n, count, dims) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) {
    CHECK(dims[i] >= 1 && (i == 0 || dims[i] <= dims[i - 1]));
    product *= dims[i];
  }
  CHECK(product == n);
  return dims[0] - dims[count - 1];
}

static void expect(int n, int count, const int* wanted) {
  int dims[16] = {0};
  MPI_Dims_create(n, count, dims);
  CHECK(memcmp(dims, wanted, (size_t)count * sizeof *dims) == 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int n = 1; n <= 720; ++n) {
    for (int count = 1; count <= 5; ++count) {
      best = INT_MAX;
      try_all(n, count, 0, n);
      CHECK(spread(n, count) == best);
    }
  }
  expect(72, 2, (int[]){9, 8});
  expect(6, 3, (int[]){3, 2, 1});
  expect(1000000, 2, (int[]){1000, 1000});
  expect(1000000, 3, (int[]){100, 100, 100});
  expect(2147483647, 2, (int[]){2147483647, 1});
  expect(1 << 30, 10, (int[]){8, 8, 8, 8, 8, 8, 8, 8, 8, 8});
  /* The int with most divisors, and others that leave much to choose from. */
  for (int round = 0; round < 20; ++round) {
    for (int count = 1; count <= 16; ++count) {
      spread(2095133040, count);
      spread(735134400 - round, count);
      spread(1000000 + round, count);
      spread(2147483646 - round, count);
    }
  }
  int dims[3] = {0, 5, 0};
  MPI_Dims_create(1000, 3, dims);
  CHECK(dims[0] == 20 && dims[1] == 5 && dims[2] == 10);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Dims_create(1001, 3, (int[]){0, 5, 0}), MPI_ERR_DIMS, "multiple");
  EXPECT_ERROR(MPI_Dims_create(0, 3, dims), MPI_ERR_ARG, "nodes is 0");
  MPI_Finalize();
  return 0;
}
