// SPDX-License-Identifier: BSD-3-Clause
/* One thread flushes the buffer, and what it flushes is received only after what another thread
   sends meanwhile: a buffered send waits for nobody, and a flush waits for what came before it. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { length = 1 << 20, rounds = 3 };
static char out[length], into[length], attached[4 * length];
static int rank, size;
static atomic_int flushing;

static void* send_and_flush(void* immediate) {
  MPI_Bsend(out, length, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD);
  atomic_store(&flushing, 1);
  if (immediate == NULL) {
    MPI_Buffer_flush();
  } else {
    MPI_Request request;
    MPI_Buffer_iflush(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  atomic_store(&flushing, 2);
  return NULL;
}

/* The last message is received only after the flush has ended. */
static void* send_more(void* unused) {
  (void)unused;
  while (atomic_load(&flushing) == 0) sched_yield();
  usleep(10000); /* by now the flush waits, probably; else it is no worse */
  MPI_Bsend(out, 1, MPI_BYTE, (rank + 1) % size, 2, MPI_COMM_WORLD);
  MPI_Bsend(out, length, MPI_BYTE, (rank + 1) % size, 3, MPI_COMM_WORLD);
  return NULL;
}

/* A buffer with room for just so much as the standard tells a program to attach. */
static void exact_buffer(void) {
  enum { messages = 5, bytes = 24, room = messages * (bytes + MPI_BSEND_OVERHEAD) };
  static char memory[room];
  void* detached;
  int got = 0;
  MPI_Buffer_attach(memory, room);
  for (int k = 0; k < messages; ++k) {
    CHECK(MPI_Bsend(out, bytes, MPI_BYTE, rank, 4, MPI_COMM_WORLD) == MPI_SUCCESS);
  }
  for (int k = 0; k < messages; ++k) {
    MPI_Recv(into, bytes, MPI_BYTE, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Buffer_detach(&detached, &got);
  CHECK(detached == memory && got == room);
}

int main(void) {
  int granted = 0, bytes = 0;
  void* memory = NULL;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &granted);
  CHECK(granted == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Buffer_attach(attached, sizeof attached);
  for (int round = 0; round < rounds; ++round) {
    const int from = (rank + size - 1) % size;
    pthread_t threads[2];
    memset(out, round + 1, length);
    atomic_store(&flushing, 0);
    pthread_create(&threads[0], NULL, send_and_flush, round % 2 ? &flushing : NULL);
    pthread_create(&threads[1], NULL, send_more, NULL);
    for (int k = 0; k < 2; ++k) {
      const int tag = 2 - k;
      memset(into, 0, length);
      MPI_Recv(into, length, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(into[0] == round + 1 && into[tag == 2 ? 1 : length - 1] == (tag == 2 ? 0 : round + 1));
    }
    pthread_join(threads[0], NULL); /* though the last message may be in the buffer still */
    pthread_join(threads[1], NULL);
    MPI_Recv(into, length, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(into[length - 1] == round + 1);
  }
  MPI_Buffer_detach(&memory, &bytes);
  CHECK(memory == attached && bytes == sizeof attached);
  exact_buffer();
  MPI_Finalize();
  return 0;
}
