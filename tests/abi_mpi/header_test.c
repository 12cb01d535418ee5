// SPDX-License-Identifier: BSD-3-Clause
/* Figures of the standard ABI (MPI-5.0 appendix A), written down independently of the generator's
 * table, and a program that must compile as C11 and as C++. */
#include <assert.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

#ifndef __cplusplus
#define static_assert _Static_assert
#endif

static_assert(MPI_VERSION == 5 && MPI_SUBVERSION == 0, "standard");
static_assert(MPI_ABI_VERSION == 1 && MPI_ABI_SUBVERSION == 0, "ABI");
static_assert(sizeof(MPI_Status) == 32 && offsetof(MPI_Status, MPI_ERROR) == 8, "status");
static_assert(sizeof(MPI_Aint) == sizeof(void*) && sizeof(MPI_Count) == 8, "sizes");
static_assert(sizeof(MPI_Offset) == 8 && sizeof(MPI_Comm) == sizeof(void*), "sizes");
static_assert(MPI_ANY_SOURCE == -1 && MPI_ANY_TAG == -2 && MPI_PROC_NULL == -3, "wildcards");
static_assert(MPI_ROOT == -4 && MPI_UNDEFINED == -32766 && MPI_KEYVAL_INVALID == 0, "sentinels");
static_assert(MPI_THREAD_SINGLE == 0 && MPI_THREAD_FUNNELED == 1024, "threads");
static_assert(MPI_THREAD_SERIALIZED == 2048 && MPI_THREAD_MULTIPLE == 4096, "threads");
static_assert(MPI_ORDER_C == 12 && MPI_IDENT == 201 && MPI_CART == 211, "kinds");
static_assert(MPI_COMBINER_NAMED == 101 && MPI_COMBINER_VALUE_INDEX == 117, "combiners");
static_assert(MPI_TAG_UB == 501 && MPI_WIN_BASE == 601, "attribute keys");
static_assert(MPI_ERR_TRUNCATE == 15 && MPI_ERR_UNSUPPORTED_OPERATION == 55, "classes");
static_assert(MPI_ERR_ABI == 62 && MPI_ERR_LASTCODE == 16383, "classes");
static_assert(MPI_MAX_ERROR_STRING == 512 && MPI_MAX_LIBRARY_VERSION_STRING == 8192, "strings");
static_assert(MPI_BSEND_OVERHEAD == 512 && MPI_MAX_INFO_VAL == 1024, "limits");

static int faults = 0;

static void same(const char* what, const void* handle, unsigned long value) {
  if ((unsigned long)(size_t)handle != value) {
    printf("%s is %p instead of %#lx\n", what, handle, value);
    ++faults;
  }
}

int main(int argc, char** argv) {
  int version = 0, subversion = 0, major = 0, minor = 0, size = 0, level = -1;
  same("MPI_SUM", MPI_SUM, 0x21);
  same("MPI_MAXLOC", MPI_MAXLOC, 0x39);
  same("MPI_COMM_WORLD", MPI_COMM_WORLD, 0x101);
  same("MPI_GROUP_EMPTY", MPI_GROUP_EMPTY, 0x109);
  same("MPI_INFO_ENV", MPI_INFO_ENV, 0x131);
  same("MPI_ERRORS_RETURN", MPI_ERRORS_RETURN, 0x143);
  same("MPI_REQUEST_NULL", MPI_REQUEST_NULL, 0x180);
  same("MPI_INT", MPI_INT, 0x209);
  same("MPI_DOUBLE", MPI_DOUBLE, 0x214);
  same("MPI_BYTE", MPI_BYTE, 0x247);
  same("MPI_INT64_T", MPI_INT64_T, 0x258);
  same("MPI_COMPLEX32", MPI_COMPLEX32, 0x2eb);
  same("MPI_IN_PLACE", MPI_IN_PLACE, 1);
  same("MPI_BUFFER_AUTOMATIC", MPI_BUFFER_AUTOMATIC, 2);
  same("MPI_WEIGHTS_EMPTY", MPI_WEIGHTS_EMPTY, 11);
  MPI_Get_version(&version, &subversion);
  MPI_Abi_get_version(&major, &minor);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (version != 5 || major != 1 || size != 1 || level != MPI_THREAD_MULTIPLE) ++faults;
  MPI_Finalize();
  return faults == 0 ? 0 : 1;
}
