// SPDX-License-Identifier: BSD-3-Clause
/* Ranks that only seem to wait for ever: all others wait while one does something else than a call
 * of MPI, or waits for something else than a rank. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size, word;
static const MPI_Comm world = MPI_COMM_WORLD;
static const useconds_t long_time = 1300000;

static void take(int source) { MPI_Recv(&word, 1, MPI_INT, source, 7, world, MPI_STATUS_IGNORE); }
static void give(int to) { MPI_Send(&word, 1, MPI_INT, to, 7, world); }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void compute(void) {
  for (const double until = now() + 1.3; now() < until;) ++word;
}

static void nap(void) { usleep(long_time); }

static void read_input(void) { word = getchar(); }

static void run_other(void) {
  if (system("sleep 1.3") != 0) abort();
}

static void test_in_a_loop(void) {
  MPI_Request r;
  int flag = 0;
  MPI_Irecv(&word, 1, MPI_INT, 1, 99, world, &r);
  for (const double until = now() + 1.3; now() < until;) {
    MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    usleep(1000);
  }
  MPI_Cancel(&r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Another thread of rank 0 goes on. */
static void* give_late(void* unused) {
  usleep(long_time);
  MPI_Send(&word, 1, MPI_INT, 0, 8, world);
  return unused;
}

static void have_a_thread(void) {
  pthread_t other;
  int own;
  pthread_create(&other, NULL, give_late, NULL);
  MPI_Recv(&own, 1, MPI_INT, 0, 8, world, MPI_STATUS_IGNORE);
  pthread_join(other, NULL);
}

static int query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int free_it(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}
static MPI_Request own_request;
static void* end_own_request(void* unused) {
  usleep(long_time);
  MPI_Grequest_complete(own_request);
  return unused;
}

static void wait_for_own_request(void) {
  pthread_t other;
  MPI_Grequest_start(query, free_it, cancel, NULL, &own_request);
  MPI_Request copy = own_request;
  pthread_create(&other, NULL, end_own_request, NULL);
  MPI_Wait(&copy, MPI_STATUS_IGNORE);
  pthread_join(other, NULL);
}

/* Never long the same rank. */
static void take_turns(void) {
  for (int turn = 0; turn < 6; ++turn) {
    if (turn % size == rank) {
      usleep(400000);
      for (int to = 0; to < size; ++to) {
        if (to != rank) give(to);
      }
    } else {
      take(turn % size);
    }
  }
}

static void use_window(void) {
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, world, &memory, &win);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, win);
    usleep(long_time);
    MPI_Put(&word, 1, MPI_INT, size - 1, 0, 1, MPI_INT, win);
    MPI_Win_unlock(size - 1, win);
  } else {
    usleep(100000);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, win);
    MPI_Win_unlock(size - 1, win);
  }
  MPI_Win_free(&win);
}

static void spawn(char* program) {
  MPI_Comm child;
  char* words[] = {"child", NULL};
  MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, world, &child, MPI_ERRCODES_IGNORE);
  if (rank == 0) MPI_Recv(&word, 1, MPI_INT, 0, 7, child, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&child);
}

static void be_spawned(void) {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  usleep(long_time);
  MPI_Send(&word, 1, MPI_INT, 0, 7, parent);
  MPI_Comm_disconnect(&parent);
}

static void meet_another_job(const char* port_file, int accepts) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm other;
  if (accepts && rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    FILE* const file = fopen(port_file, "w");
    fputs(port, file);
    fclose(file);
  } else if (rank == 0) {
    usleep(long_time);
    FILE* const file = fopen(port_file, "r");
    if (fgets(port, sizeof port, file) == NULL) abort();
    fclose(file);
  }
  if (accepts) {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, world, &other);
  } else {
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, world, &other);
  }
  MPI_Comm_disconnect(&other);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } ways[] = {{"compute", compute},        {"sleep", nap},
              {"read", read_input},        {"run", run_other},
              {"test", test_in_a_loop},    {"thread", have_a_thread},
              {"request", wait_for_own_request}};
  const char* const wanted = argc > 1 ? argv[1] : "";
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  if (strcmp(wanted, "child") == 0) {
    be_spawned();
    MPI_Finalize();
    return 0;
  }
  MPI_Barrier(world);
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
    if (strcmp(ways[i].name, wanted) != 0) continue;
    if (rank == 0) {
      ways[i].run();
      give(1);
    } else {
      take((rank + size - 1) % size);
      if (rank + 1 < size) give(rank + 1);
    }
  }
  if (strcmp(wanted, "turns") == 0) take_turns();
  if (strcmp(wanted, "window") == 0) use_window();
  if (strcmp(wanted, "spawn") == 0) spawn(argv[0]);
  if (strcmp(wanted, "accept") == 0) meet_another_job(argv[2], 1);
  if (strcmp(wanted, "connect") == 0) meet_another_job(argv[2], 0);
  MPI_Finalize();
  return 0;
}
