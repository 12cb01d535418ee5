// SPDX-License-Identifier: BSD-3-Clause
/* The last rank kills itself while the others are in the middle of argv[1]; argv[2] is a file. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { count = 1 << 16, rounds = 8 };

static int rank, size;
static int words[count];

/* The last rank leaves in the third round. */
static void die_in(int round) {
  if (round == 2 && rank == size - 1) raise(SIGKILL);
}

static void fences(MPI_Win win) {
  MPI_Win_fence(0, win);
  for (int i = 0; i < rounds; ++i) {
    MPI_Put(words, count, MPI_INT, (rank + 1) % size, 0, count, MPI_INT, win);
    die_in(i);
    MPI_Win_fence(0, win);
  }
}

/* The others wait for a lock whose owner has died. */
static void locks(MPI_Win win) {
  const int last = size - 1;
  for (int i = 0; i < rounds; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (i == 2 && rank == last) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    die_in(i);
    MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
    MPI_Put(&rank, 1, MPI_INT, last, rank, 1, MPI_INT, win);
    MPI_Win_unlock(last, win);
  }
}

static void window(void (*use)(MPI_Win)) {
  MPI_Win win;
  int* base;
  MPI_Win_allocate(sizeof words, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  use(win);
  MPI_Win_free(&win);
}

static void file(const char* what, const char* path) {
  MPI_File fh;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
  for (int i = 0; i < rounds; ++i) {
    const MPI_Offset at = (MPI_Offset)(i * size + rank) * (MPI_Offset)sizeof words;
    die_in(i);
    if (strcmp(what, "write") == 0)
      MPI_File_write_at_all(fh, at, words, count, MPI_INT, MPI_STATUS_IGNORE);
    else
      MPI_File_write_ordered(fh, words, count, MPI_INT, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&fh);
}

static void collectives(void) {
  static int sums[count];
  MPI_Request request[2];
  for (int i = 0; i < rounds; ++i) {
    MPI_Iallreduce(words, sums, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[0]);
    die_in(i);
    MPI_Ibarrier(MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  }
}

static void partitions(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == size - 1) {
    MPI_Psend_init(words, 4, count / 4, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  } else if (rank == 0) {
    MPI_Precv_init(words, 4, count / 4, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
  }
  for (int i = 0; i < rounds && request != MPI_REQUEST_NULL; ++i) {
    MPI_Start(&request);
    for (int p = 0; p < 4 && rank != 0; ++p) {
      if (p == 2) die_in(i);
      MPI_Pready(p, request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static int has_ended(int pid) {
  char path[64], state = 'Z';
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE* f = fopen(path, "r");
  if (f == NULL) return 1;
  if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
  fclose(f);
  return state == 'Z' || state == 'X';
}

/* Rank 0 copies from the memory of a rank that has died, as it has done before, and the launcher is
   late: it is stopped meanwhile, until rank 1 continues it at the latest. */
static void copies(void) {
  MPI_Request request;
  int pid = getpid(), flag = 0;
  if (rank == size - 1) {
    MPI_Send(words, count, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Isend(words, count, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    kill(getppid(), SIGSTOP);
    MPI_Send(&pid, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    raise(SIGKILL);
  } else if (rank == 0) {
    MPI_Recv(words, count, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&pid, 1, MPI_INT, size - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!has_ended(pid)) usleep(1000);
    MPI_Irecv(words, count, MPI_INT, size - 1, 1, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 20000 && !flag; ++i) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  } else {
    sleep(2);
  }
  kill(getppid(), SIGCONT);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argv[1];
  if (strcmp(what, "fence") == 0) window(fences);
  if (strcmp(what, "lock") == 0) window(locks);
  if (strcmp(what, "write") == 0 || strcmp(what, "ordered") == 0) file(what, argv[2]);
  if (strcmp(what, "collectives") == 0) collectives();
  if (strcmp(what, "partitions") == 0) partitions();
  if (strcmp(what, "copies") == 0) copies();
  printf("nobody has died\n");
  MPI_Finalize();
  return 0;
}
