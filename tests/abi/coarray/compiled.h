/* SPDX-License-Identifier: BSD-3-Clause */
/* What gfortran's code declares, for C programs that stand in for it: written from the compiler's
   dumps, not from our headers. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  ptrdiff_t stride, lower, upper;
} dimension;
typedef struct {
  void* base;
  size_t offset;
  size_t element_bytes;
  int version;
  signed char rank, type;
  short attribute;
  ptrdiff_t span;
  dimension dim[2];
} array;

void _gfortran_caf_init(int*, char***);
void _gfortran_caf_finalize(void);
void _gfortran_caf_register(size_t, int, void**, array*, int*, char*, size_t);
void _gfortran_caf_deregister(void**, int, int*, char*, size_t);
void _gfortran_caf_sync_all(int*, char*, size_t);
void _gfortran_caf_sync_images(int, int*, int*, char*, size_t);
void _gfortran_caf_co_sum(array*, int, int*, char*, size_t);

static int faults = 0;
#define EXPECT(condition) \
  ((condition) ? (void)0  \
               : (void)(++faults,  \
                        fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition)))

static inline array vector_of(int* memory, ptrdiff_t n) {
  array a = {memory, (size_t)-1, 4, 0, 1, 1, 0, 4, {{1, 1, n}, {0, 0, 0}}};
  return a;
}
static inline array scalar_of(int* memory) {
  array a = {memory, 0, 4, 0, 0, 1, 0, 4, {{0, 0, 0}, {0, 0, 0}}};
  return a;
}
static inline int finish(void) {
  _gfortran_caf_sync_all(NULL, NULL, 0);
  if (faults == 0) printf("good\n");
  fflush(stdout);
  _gfortran_caf_finalize();
  return faults != 0;
}
