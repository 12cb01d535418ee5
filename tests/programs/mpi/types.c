// SPDX-License-Identifier: BSD-3-Clause
/* Datatypes: making, sending, describing, packing. Any rank count: each rank talks to itself. */
#if __has_include(<mpi-ext.h>) /* not among the headers of other MPIs here */
#include <mpi-ext.h>
#endif
#include "check.h"
#include <stddef.h>

static int rank;

static void column(void) {
  double matrix[4][5], got[4];
  MPI_Datatype type;
  MPI_Status status;
  MPI_Aint lb, extent;
  int count = 0, size = 0;
  for (int i = 0; i < 20; ++i) matrix[i / 5][i % 5] = i;
  MPI_Type_vector(4, 1, 5, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &lb, &extent);
  CHECK(size == 32 && lb == 0 && extent == 16 * 8);
  MPI_Sendrecv(&matrix[0][2], 1, type, rank, 1, got, 4, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD,
               &status);
  for (int i = 0; i < 4; ++i) CHECK(got[i] == 5 * i + 2);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK(count == 4 && status.MPI_SOURCE == rank && status.MPI_TAG == 1);
  MPI_Type_free(&type);
}

struct mixed {
  char letter;
  double number;
  int list[3];
};

static void structure(void) {
  struct mixed out[2] = {{'a', 1.5, {1, 2, 3}}, {'b', 2.5, {4, 5, 6}}}, in[2];
  int lengths[3] = {1, 1, 3}, integers = 0, addresses = 0, types = 0, combiner = 0, elements = 0;
  MPI_Aint offsets[3] = {offsetof(struct mixed, letter), offsetof(struct mixed, number),
                         offsetof(struct mixed, list)};
  MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, raw, type, again[3];
  MPI_Status status;
  int numbers[4];
  MPI_Aint places[3];
  MPI_Type_create_struct(3, lengths, offsets, parts, &raw);
  MPI_Type_create_resized(raw, 0, sizeof(struct mixed), &type);
  MPI_Type_commit(&type);
  memset(in, 0, sizeof in);
  MPI_Sendrecv(out, 2, type, rank, 2, in, 2, type, rank, 2, MPI_COMM_WORLD, &status);
  CHECK(in[1].letter == 'b' && in[1].number == 2.5 && in[1].list[2] == 6);
  MPI_Get_elements(&status, type, &elements);
  CHECK(elements == 10);
  MPI_Type_get_envelope(raw, &integers, &addresses, &types, &combiner);
  CHECK(integers == 4 && addresses == 3 && types == 3 && combiner == MPI_COMBINER_STRUCT);
  MPI_Type_get_contents(raw, 4, 3, 3, numbers, places, again);
  CHECK(numbers[0] == 3 && numbers[3] == 3 && places[1] == offsets[1] && again[1] == MPI_DOUBLE);
  MPI_Type_free(&raw);
  MPI_Type_free(&type);
}

static void subarray(void) {
  int sizes[2] = {4, 6}, sub[2] = {2, 3}, start[2] = {1, 2}, a[24], got[6];
  MPI_Datatype type;
  MPI_Aint lb, extent;
  for (int i = 0; i < 24; ++i) a[i] = i;
  MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Type_get_extent(type, &lb, &extent);
  CHECK(lb == 0 && extent == 24 * 4);
  MPI_Sendrecv(a, 1, type, rank, 3, got, 6, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(got[0] == 8 && got[2] == 10 && got[3] == 14 && got[5] == 16);
  MPI_Type_free(&type);
}

static void packing(void) {
  char buffer[64];
  int position = 0, size = 0, n = 7, m = 0;
  double x = 0.25, y = 0;
  MPI_Aint place = 0;
  MPI_Pack(&n, 1, MPI_INT, buffer, 64, &position, MPI_COMM_WORLD);
  MPI_Pack(&x, 1, MPI_DOUBLE, buffer, 64, &position, MPI_COMM_WORLD);
  MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &size);
  CHECK(position >= 12 && size >= 8);
  position = 0;
  MPI_Unpack(buffer, 64, &position, &m, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Unpack(buffer, 64, &position, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  CHECK(m == 7 && y == 0.25);
  MPI_Pack_external("external32", &n, 1, MPI_INT, buffer, 64, &place);
  CHECK(place == 4 && buffer[0] == 0 && buffer[3] == 7);
  place = m = 0;
  MPI_Unpack_external("external32", buffer, 64, &place, &m, 1, MPI_INT);
  CHECK(m == 7);
  long double out[2] = {0.375L, -1.0L}, in[2] = {0, 0};
  place = 0;
  MPI_Pack_external("external32", out, 2, MPI_LONG_DOUBLE, buffer, 64, &place);
  CHECK(place == 32 && (unsigned char)buffer[16] == 0xbf && (unsigned char)buffer[17] == 0xff);
  place = 0;
  MPI_Unpack_external("external32", buffer, 64, &place, in, 2, MPI_LONG_DOUBLE);
  CHECK(in[0] == 0.375L && in[1] == -1.0L);
}

static void large_counts(void) {
  MPI_Datatype huge;
  MPI_Count size = 0;
  int small = 0;
  MPI_Type_contiguous_c((MPI_Count)3 << 30, MPI_INT, &huge);
  MPI_Type_size_c(huge, &size);
  CHECK(size == (MPI_Count)12 << 30);
  MPI_Type_size(huge, &small);
  CHECK(small == MPI_UNDEFINED);
  MPI_Type_free(&huge);
}

#ifdef MPIX_C_FLOAT16
/* 1.5 and 0.25 in each of the two formats of two bytes, and their sum. */
static void two_byte_numbers(void) {
  const struct {
    MPI_Datatype type;
    unsigned short number[2], sum;
  } all[] = {{MPIX_C_FLOAT16, {0x3e00, 0x3400}, 0x3f00}, {MPIX_BFLOAT16, {0x3fc0, 0x3e80}, 0x3fe0}};
  for (int k = 0; k < 2; ++k) {
    unsigned short sum = all[k].number[0];
    int bytes = 0;
    MPI_Type_size(all[k].type, &bytes);
    CHECK(bytes == 2);
    MPI_Reduce_local(&all[k].number[1], &sum, 1, all[k].type, MPI_SUM);
    CHECK(sum == all[k].sum);
  }
}
#endif

/* An address is one's own, also of what stands for something else elsewhere. */
static void addresses(void) {
  MPI_Aint found = 0;
  MPI_Get_address(&rank, &found);
  CHECK(found == (MPI_Aint)&rank);
  MPI_Get_address(MPI_IN_PLACE, &found);
  CHECK(found == (MPI_Aint)MPI_IN_PLACE);
  MPI_Get_address(MPI_BOTTOM, &found);
  CHECK(found == (MPI_Aint)MPI_BOTTOM);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  column();
  structure();
  subarray();
  packing();
  large_counts();
  addresses();
#ifdef MPIX_C_FLOAT16
  two_byte_numbers();
#endif
  MPI_Finalize();
  return 0;
}
