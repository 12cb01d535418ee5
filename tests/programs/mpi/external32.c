// SPDX-License-Identifier: BSD-3-Clause
/* external32: the size of each predefined type as the standard's table has it (MPI-5.0 section
 * 14.5.2), the bytes of some values, and every type there and back. */
#include "check.h"
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define REP "external32"

static const struct row {
  const char* name;
  MPI_Datatype type;
  int bytes;
} table[] = {
#define ROW(name, bytes) {#name, MPI_##name, bytes}
    ROW(PACKED, 1), ROW(BYTE, 1), ROW(CHAR, 1), ROW(UNSIGNED_CHAR, 1), ROW(SIGNED_CHAR, 1),
    ROW(WCHAR, 2), ROW(SHORT, 2), ROW(UNSIGNED_SHORT, 2), ROW(INT, 4), ROW(LONG, 4),
    ROW(UNSIGNED, 4), ROW(UNSIGNED_LONG, 4), ROW(LONG_LONG, 8), ROW(UNSIGNED_LONG_LONG, 8),
    ROW(FLOAT, 4), ROW(DOUBLE, 8), ROW(LONG_DOUBLE, 16), ROW(C_BOOL, 1), ROW(INT8_T, 1),
    ROW(INT16_T, 2), ROW(INT32_T, 4), ROW(INT64_T, 8), ROW(UINT8_T, 1), ROW(UINT16_T, 2),
    ROW(UINT32_T, 4), ROW(UINT64_T, 8), ROW(AINT, 8), ROW(COUNT, 8), ROW(OFFSET, 8),
    ROW(C_COMPLEX, 8), ROW(C_FLOAT_COMPLEX, 8), ROW(C_DOUBLE_COMPLEX, 16),
    ROW(C_LONG_DOUBLE_COMPLEX, 32), ROW(CHARACTER, 1), ROW(LOGICAL, 4), ROW(INTEGER, 4),
    ROW(REAL, 4), ROW(DOUBLE_PRECISION, 8), ROW(COMPLEX, 8), ROW(DOUBLE_COMPLEX, 16),
    ROW(CXX_BOOL, 1), ROW(CXX_FLOAT_COMPLEX, 8), ROW(CXX_DOUBLE_COMPLEX, 16),
    ROW(CXX_LONG_DOUBLE_COMPLEX, 32), ROW(INTEGER1, 1), ROW(INTEGER2, 2), ROW(INTEGER4, 4),
    ROW(INTEGER8, 8), ROW(INTEGER16, 16), ROW(REAL2, 2), ROW(REAL4, 4), ROW(REAL8, 8),
    ROW(REAL16, 16), ROW(COMPLEX4, 4), ROW(COMPLEX8, 8), ROW(COMPLEX16, 16), ROW(COMPLEX32, 32),
    /* Made of two of the above. */
    ROW(SHORT_INT, 6), ROW(2INT, 8), ROW(LONG_INT, 8), ROW(FLOAT_INT, 8), ROW(DOUBLE_INT, 12),
    ROW(LONG_DOUBLE_INT, 20), ROW(2REAL, 8), ROW(2DOUBLE_PRECISION, 16), ROW(2INTEGER, 8),
#undef ROW
};

static void sizes(void) {
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
    MPI_Aint bytes = -1;
    MPI_Pack_external_size(REP, 3, table[i].type, &bytes);
    if (bytes != 3 * table[i].bytes) {
      fprintf(stderr, "3 of MPI_%s: %ld bytes instead of %d\n", table[i].name, (long)bytes,
              3 * table[i].bytes);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
}

/* Small numbers, which every width holds: each type gives back what went in, and no more. */
static void there_and_back(void) {
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
    enum { n = 5 };
    unsigned char in[n * 64], out[n * 64], packed[n * 32];
    MPI_Aint lower = 0, extent = 0, place = 0;
    int bytes = 0;
    MPI_Type_get_extent(table[i].type, &lower, &extent);
    MPI_Type_size(table[i].type, &bytes);
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    for (int k = 0; k < n; ++k) in[k * extent] = (unsigned char)(k + 1);
    if (strstr(table[i].name, "LONG_DOUBLE") != NULL) {
      for (int k = 0; k < n; ++k) {
        const long double value = 0.5L + k;
        memcpy(in + k * extent, &value, sizeof value);
      }
    }
    MPI_Pack_external(REP, in, n, table[i].type, packed, sizeof packed, &place);
    CHECK(place == n * table[i].bytes);
    place = 0;
    MPI_Unpack_external(REP, packed, sizeof packed, &place, out, n, table[i].type);
    CHECK(place == n * table[i].bytes);
    for (int k = 0; k < n; ++k) {
      if (strstr(table[i].name, "LONG_DOUBLE") != NULL) {
        long double a, b;
        memcpy(&a, in + k * extent, sizeof a);
        memcpy(&b, out + k * extent, sizeof b);
        CHECK(a == b);
      } else if (memcmp(in + k * extent, out + k * extent, (size_t)bytes) != 0 &&
                 bytes == extent) {
        fprintf(stderr, "MPI_%s comes back changed\n", table[i].name);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }
}

static void expect_bytes(const void* value, MPI_Datatype type, const char* wanted, int n) {
  char packed[64];
  MPI_Aint place = 0;
  MPI_Pack_external(REP, value, 1, type, packed, sizeof packed, &place);
  CHECK(place == n && memcmp(packed, wanted, (size_t)n) == 0);
}

static void values(void) {
  const long minus = -2, wide = (long)0x1122334455667788;
  const unsigned long high = 0xfffffffeUL;
  const wchar_t letter = 0x20ac;
  const int64_t eight = -2;
  long back = 0;
  unsigned long unsigned_back = 0;
  wchar_t letter_back = 0;
  MPI_Aint place = 0;
  expect_bytes(&minus, MPI_LONG, "\xff\xff\xff\xfe", 4);
  expect_bytes(&wide, MPI_LONG, "\x55\x66\x77\x88", 4); /* the less significant bytes */
  expect_bytes(&high, MPI_UNSIGNED_LONG, "\xff\xff\xff\xfe", 4);
  expect_bytes(&letter, MPI_WCHAR, "\x20\xac", 2);
  expect_bytes(&eight, MPI_INT64_T, "\xff\xff\xff\xff\xff\xff\xff\xfe", 8);
  MPI_Unpack_external(REP, "\xff\xff\xff\xfe", 4, &place, &back, 1, MPI_LONG);
  CHECK(back == -2);
  place = 0;
  MPI_Unpack_external(REP, "\xff\xff\xff\xfe", 4, &place, &unsigned_back, 1, MPI_UNSIGNED_LONG);
  CHECK(unsigned_back == high);
  place = 0;
  MPI_Unpack_external(REP, "\x20\xac", 2, &place, &letter_back, 1, MPI_WCHAR);
  CHECK(letter_back == letter);
  const struct {
    long value;
    int index;
  } pair = {-3, 9};
  expect_bytes(&pair, MPI_LONG_INT, "\xff\xff\xff\xfd\0\0\0\x09", 8);
}

/* Elements of several lengths in one type, with gaps, and in a buffer that just fits. */
static void derived(void) {
  struct item {
    char tag;
    long number;
    wchar_t letter;
    double weight;
  } in[3] = {{'a', -1, L'x', 0.5}, {'b', 70000, L'y', -8}, {'c', INT_MIN, L'z', 3}}, out[3];
  const int lengths[4] = {1, 1, 1, 1};
  const MPI_Aint at[4] = {offsetof(struct item, tag), offsetof(struct item, number),
                          offsetof(struct item, letter), offsetof(struct item, weight)};
  const MPI_Datatype types[4] = {MPI_CHAR, MPI_LONG, MPI_WCHAR, MPI_DOUBLE};
  MPI_Datatype type, every;
  MPI_Aint bytes = 0, place = 0;
  char packed[45];
  MPI_Type_create_struct(4, lengths, at, types, &type);
  MPI_Type_create_resized(type, 0, sizeof(struct item), &every);
  MPI_Type_commit(&every);
  MPI_Pack_external_size(REP, 3, every, &bytes);
  CHECK(bytes == 3 * (1 + 4 + 2 + 8));
  MPI_Pack_external(REP, in, 3, every, packed, sizeof packed, &place);
  CHECK(place == 45);
  memset(out, 0, sizeof out);
  place = 0;
  MPI_Unpack_external(REP, packed, sizeof packed, &place, out, 3, every);
  for (int i = 0; i < 3; ++i) {
    CHECK(out[i].tag == in[i].tag && out[i].number == in[i].number);
    CHECK(out[i].letter == in[i].letter && out[i].weight == in[i].weight);
  }
  place = 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Pack_external(REP, in, 3, every, packed, 44, &place), MPI_ERR_TRUNCATE, "44");
  MPI_Type_free(&type);
  MPI_Type_free(&every);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  sizes();
  there_and_back();
  values();
  derived();
  MPI_Finalize();
  return 0;
}
