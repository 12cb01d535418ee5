// SPDX-License-Identifier: BSD-3-Clause
// MPI_SIZEOF of Open MPI's modules mpi and mpi_f08: a procedure for each kind and rank.
#include "abi/foreign/openmpi_fortran.hpp"

#include "abi/fortran/convert.hpp"

using sinew::fortran::done;

#define SINEW_SIZEOF(name, bytes)                                        \
  void mpi_sizeof_##name##_(const void* /*x*/, int* size, int* ierror) { \
    *size = bytes;                                                       \
    done(ierror, MPI_SUCCESS);                                           \
  }                                                                      \
  [[gnu::alias("mpi_sizeof_" #name "_")]]                                \
  void pmpi_sizeof_##name##_(const void* x, int* size, int* ierror)

#define SINEW_SIZEOF_RANKS(kind, bytes) \
  SINEW_SIZEOF(kind##_scalar, bytes);   \
  SINEW_SIZEOF(kind##_r1, bytes);       \
  SINEW_SIZEOF(kind##_r2, bytes);       \
  SINEW_SIZEOF(kind##_r3, bytes);       \
  SINEW_SIZEOF(kind##_r4, bytes);       \
  SINEW_SIZEOF(kind##_r5, bytes);       \
  SINEW_SIZEOF(kind##_r6, bytes);       \
  SINEW_SIZEOF(kind##_r7, bytes);       \
  SINEW_SIZEOF(kind##_r8, bytes);       \
  SINEW_SIZEOF(kind##_r9, bytes);       \
  SINEW_SIZEOF(kind##_r10, bytes);      \
  SINEW_SIZEOF(kind##_r11, bytes);      \
  SINEW_SIZEOF(kind##_r12, bytes);      \
  SINEW_SIZEOF(kind##_r13, bytes);      \
  SINEW_SIZEOF(kind##_r14, bytes);      \
  SINEW_SIZEOF(kind##_r15, bytes)

extern "C" {

SINEW_SIZEOF_RANKS(character, 1);
SINEW_SIZEOF_RANKS(logical, 4);
SINEW_SIZEOF_RANKS(int8, 1);
SINEW_SIZEOF_RANKS(int16, 2);
SINEW_SIZEOF_RANKS(int32, 4);
SINEW_SIZEOF_RANKS(int64, 8);
SINEW_SIZEOF_RANKS(real32, 4);
SINEW_SIZEOF_RANKS(real64, 8);
SINEW_SIZEOF_RANKS(real128, 16);
SINEW_SIZEOF_RANKS(complex32, 8);
SINEW_SIZEOF_RANKS(complex64, 16);
SINEW_SIZEOF_RANKS(complex128, 32);

}  // extern "C"
