// SPDX-License-Identifier: BSD-3-Clause
/* What is freed while it is in use, and files that cannot be had: an error class and a sentence,
 * and everything goes on. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static int rank, size;

static void a_window_with_an_open_epoch(void) {
  MPI_Win win;
  int* base;
  int word = rank, found = -1;
  CHECK(MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) ==
        MPI_SUCCESS);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  *base = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (rank + 1) % size;
  CHECK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win) == MPI_SUCCESS);
  CHECK(MPI_Put(&word, 1, MPI_INT, next, 0, 1, MPI_INT, win) == MPI_SUCCESS);
  EXPECT_ERROR(MPI_Win_free(&win), MPI_ERR_RMA_SYNC, "MPI_Win_unlock is missing");
  CHECK(MPI_Win_unlock(next, win) == MPI_SUCCESS);
  CHECK(MPI_Win_lock_all(0, win) == MPI_SUCCESS);
  EXPECT_ERROR(MPI_Win_free(&win), MPI_ERR_RMA_SYNC, "MPI_Win_unlock");
  CHECK(MPI_Get(&found, 1, MPI_INT, next, 0, 1, MPI_INT, win) == MPI_SUCCESS);
  CHECK(MPI_Win_unlock_all(win) == MPI_SUCCESS && found == rank);
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  CHECK(MPI_Win_post(all, 0, win) == MPI_SUCCESS);
  EXPECT_ERROR(MPI_Win_free(&win), MPI_ERR_RMA_SYNC, "MPI_Win_wait is missing");
  CHECK(MPI_Win_start(all, 0, win) == MPI_SUCCESS);
  CHECK(MPI_Win_complete(win) == MPI_SUCCESS && MPI_Win_wait(win) == MPI_SUCCESS);
  MPI_Group_free(&all);
  CHECK(MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL);
}

/* The standard lets them complete. */
static void a_communicator_with_collectives_under_way(void) {
  enum { many = 20 };
  MPI_Request request[many];
  int mine[many], sums[many];
  for (int round = 0; round < 10; ++round) {
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    for (int i = 0; i < many; ++i) {
      mine[i] = rank + i;
      sums[i] = -1;
      CHECK((i % 2 == 0 ? MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, twin, &request[i])
                        : MPI_Ibarrier(twin, &request[i])) == MPI_SUCCESS);
    }
    CHECK(MPI_Comm_free(&twin) == MPI_SUCCESS && twin == MPI_COMM_NULL);
    CHECK(MPI_Waitall(many, request, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < many; i += 2) {
      CHECK(sums[i] == size * (size - 1) / 2 + i * size);
    }
  }
}

/* Root may do everything, so that it becomes somebody else for the time. */
static void files_without_permission(const char* folder) {
  MPI_File fh = MPI_FILE_NULL;
  char own[400], closed[400], inside[500];
  snprintf(own, sizeof own, "%s/own", folder);
  snprintf(closed, sizeof closed, "%s/closed", folder);
  snprintf(inside, sizeof inside, "%s/new", closed);
  if (rank == 0) {
    FILE* file = fopen(own, "w");
    CHECK(file != NULL && fclose(file) == 0 && chmod(own, 0) == 0 && mkdir(closed, 0) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int root = geteuid() == 0;
  CHECK(!root || seteuid(65534) == 0);
  EXPECT_ERROR(MPI_File_open(MPI_COMM_WORLD, own, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh),
               MPI_ERR_ACCESS, "");
  EXPECT_ERROR(
      MPI_File_open(MPI_COMM_WORLD, inside, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &fh),
      MPI_ERR_ACCESS, "");
  CHECK(fh == MPI_FILE_NULL);
  EXPECT_ERROR(MPI_File_delete(inside, MPI_INFO_NULL), MPI_ERR_ACCESS, "");
  CHECK(!root || seteuid(0) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    CHECK(unlink(own) == 0 && rmdir(closed) == 0);
  }
}

/* Etypes that overlap: read, but not written. */
static void a_view_that_overlaps(const char* folder) {
  MPI_File fh;
  MPI_Datatype pair;
  char path[400];
  int words[4] = {1, 2, 3, 4}, in[4] = {0};
  snprintf(path, sizeof path, "%s/overlaps", folder);
  const int lengths[] = {2, 2};
  const MPI_Aint places[] = {0, 4};
  MPI_Datatype types[] = {MPI_INT, MPI_INT};
  MPI_Type_create_struct(2, lengths, places, types, &pair);
  MPI_Type_commit(&pair);
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) ==
        MPI_SUCCESS);
  EXPECT_ERROR(MPI_File_set_view(fh, 0, MPI_INT, pair, "native", MPI_INFO_NULL), MPI_ERR_TYPE,
               "overlap");
  if (rank == 0) {
    CHECK(MPI_File_write_at(fh, 0, words, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  }
  CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &fh) == MPI_SUCCESS);
  CHECK(MPI_File_set_view(fh, 0, MPI_INT, pair, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  CHECK(MPI_File_read(fh, in, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(in[0] == 1 && in[1] == 2 && in[2] == 2 && in[3] == 3);
  CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
  MPI_Type_free(&pair);
}

/* A file system that becomes full: `edges full FOLDER`, which has 1 MiB. */
static void a_full_file_system(const char* folder) {
  enum { block = 1 << 18 };
  MPI_File fh;
  char path[400];
  char* data = malloc(block);
  snprintf(path, sizeof path, "%s/filled", folder);
  memset(data, 'a' + rank, block);
  for (int way = 0; way < 2; ++way) {
    int failed = 0;
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &fh) == MPI_SUCCESS);
    for (int i = 0; i < 16 && failed == 0; ++i) {
      const MPI_Offset at = (MPI_Offset)block * (i * size + rank);
      const int code = (way == 0 ? MPI_File_write_at_all : MPI_File_write_at)(
          fh, at, data, block, MPI_BYTE, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) {
        EXPECT_ERROR(code, MPI_ERR_NO_SPACE, "");
        failed = 1;
      }
      MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    CHECK(failed == 1);
    MPI_Barrier(MPI_COMM_WORLD);
    char byte = 0;
    CHECK(MPI_File_read_at(fh, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(byte == 'a');
    EXPECT_ERROR(MPI_File_preallocate(fh, 1 << 24), MPI_ERR_NO_SPACE, "");
    CHECK(MPI_File_set_size(fh, 10) == MPI_SUCCESS); /* there is room again */
    CHECK(MPI_File_write_at_all(fh, 10 + rank, data, 1, MPI_BYTE, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
    MPI_Offset bytes = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_get_size(fh, &bytes) == MPI_SUCCESS && bytes == 10 + size);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
    if (rank == 0) {
      CHECK(MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(data);
  if (rank == 0) {
    printf("it was full\n");
  }
}

int main(int argc, char** argv) {
  char folder[300];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 2 && strcmp(argv[1], "full") == 0) {
    a_full_file_system(argv[2]);
    MPI_Finalize();
    return 0;
  }
  const char* const above = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
  snprintf(folder, sizeof folder, "%s/sinew-edges-%d", above, (int)getpid());
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    CHECK(mkdir(folder, 0777) == 0 && chmod(folder, 0777) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm node;
  int here = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &here);
  MPI_Comm_free(&node);
  if (here == size) {
    a_window_with_an_open_epoch();
  }
  a_communicator_with_collectives_under_way();
  files_without_permission(folder);
  a_view_that_overlaps(folder);
  if (rank == 0) {
    CHECK(rmdir(folder) == 0);
  }
  MPI_Finalize();
  return 0;
}
