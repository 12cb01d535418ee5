/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of files share: one file of all ranks, opened, closed, deleted, looked at. */
#ifndef SINEW_TESTS_FILES_H
#define SINEW_TESTS_FILES_H

#include <unistd.h>

#include "check.h"

#define ROOM (1 << 20)
static int rank, size;
static char path[400];
static unsigned char there[ROOM]; /* what the system has in the file */

static inline MPI_File opened(int amode, MPI_Info info) {
  MPI_File fh = MPI_FILE_NULL;
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, amode, info, &fh) == MPI_SUCCESS);
  CHECK(fh != MPI_FILE_NULL);
  return fh;
}

static inline void closed(MPI_File* fh) {
  CHECK(MPI_File_close(fh) == MPI_SUCCESS);
  CHECK(*fh == MPI_FILE_NULL);
}

static inline void gone(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
}

static inline int bytes_of(const MPI_Status* status) {
  int n = -1;
  MPI_Get_count(status, MPI_BYTE, &n);
  return n;
}

/* Fills `there`; returns the file's length. */
static inline long slurp(void) {
  FILE* in = fopen(path, "rb");
  CHECK(in != NULL);
  const long n = (long)fread(there, 1, sizeof there, in);
  fclose(in);
  return n;
}

static inline void begin(int* argc, char*** argv) {
  int level;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const char* folder = getenv("TMPDIR");
  if (rank == 0) {
    snprintf(path, sizeof path, "%s/sinew-files-%d", folder != NULL ? folder : "/tmp",
             (int)getpid());
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
}

#endif
