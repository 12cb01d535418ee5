// SPDX-License-Identifier: BSD-3-Clause
/* Objects that are made and freed very often: neither memory nor descriptors grow. Without words it
 * is short; `growth whole` makes 10^6 communicators, 10^5 windows and 10^5 files. */
#include <dirent.h>
#include <unistd.h>

#include "check.h"

static int rank;
static char path[300];

/* Bytes: resident, and of the address space. */
struct memory {
  long resident, mapped;
};

static struct memory memory_now(void) {
  struct memory now = {0, 0};
  FILE* statm = fopen("/proc/self/statm", "r");
  CHECK(statm != NULL && fscanf(statm, "%ld %ld", &now.mapped, &now.resident) == 2);
  fclose(statm);
  now.mapped *= sysconf(_SC_PAGESIZE);
  now.resident *= sysconf(_SC_PAGESIZE);
  return now;
}

static int open_descriptors(void) {
  int count = 0;
  DIR* list = opendir("/proc/self/fd");
  CHECK(list != NULL);
  while (readdir(list) != NULL) {
    ++count;
  }
  closedir(list);
  return count;
}

static void a_communicator(void) {
  MPI_Comm made;
  CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &made) == MPI_SUCCESS);
  CHECK(MPI_Comm_free(&made) == MPI_SUCCESS);
}

static void a_window(void) {
  MPI_Win win;
  int* base;
  CHECK(MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) ==
        MPI_SUCCESS);
  *base = rank;
  CHECK(MPI_Win_free(&win) == MPI_SUCCESS);
}

static void a_file(void) {
  MPI_File file;
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

/* After a tenth of them all that is kept for later has been made. */
static void repeat(void (*make)(void), long times, const char* what) {
  struct memory before = {0, 0};
  int descriptors = 0;
  for (long i = 0; i < times; ++i) {
    if (i == times / 10) {
      before = memory_now();
      descriptors = open_descriptors();
    }
    make();
  }
  const struct memory after = memory_now();
  const long resident = after.resident - before.resident, mapped = after.mapped - before.mapped;
  /* A thread's first allocation reserves 64 MiB of addresses, and none of memory. */
  if (resident > 1L << 20 || mapped > 72L << 20 || open_descriptors() != descriptors) {
    fprintf(stderr, "rank %d: %ld %s: %ld bytes and %ld of addresses more, %d descriptors more\n",
            rank, times, what, resident, mapped, open_descriptors() - descriptors);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int whole = argc > 1 && strcmp(argv[1], "whole") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const folder = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
  snprintf(path, sizeof path, "%s/sinew-growth-%d", folder, (int)getpid());
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  /* Between hosts each is many messages, for which a busy machine lets its ranks wait. */
  const long few = on_several_nodes() ? 200 : 1000;
  repeat(a_communicator, whole ? 1000000 : 5 * few, "communicators");
  repeat(a_window, whole ? 100000 : few, "windows");
  repeat(a_file, whole ? 100000 : few, "files");
  if (rank == 0) {
    CHECK(unlink(path) == 0);
  }
  MPI_Finalize();
  return 0;
}
