// SPDX-License-Identifier: BSD-3-Clause
// Reads the system's clocks and sleeps, in every way that a program has; prints what has passed.
// Under `sinew simulate` the same comes each time, and no second of it is real.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int64_t read_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t began;
static void begin(void) { began = read_ns(CLOCK_MONOTONIC); }
static void end(const char* what) {
  printf("%s: %lld ns\n", what, (long long)(read_ns(CLOCK_MONOTONIC) - began));
}

static struct timespec in(clockid_t clock, int64_t ns) {
  const int64_t at = read_ns(clock) + ns;
  return (struct timespec){at / 1000000000, at % 1000000000};
}

static void read_all(void) {
  static const clockid_t clocks[] = {
      CLOCK_REALTIME,      CLOCK_REALTIME_COARSE,  CLOCK_MONOTONIC,
      CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME};
  for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; ++i) {
    printf("clock %d: %lld ns\n", (int)clocks[i], (long long)read_ns(clocks[i]));
  }
  struct timeval day;
  gettimeofday(&day, NULL);
  struct timespec utc;
  timespec_get(&utc, TIME_UTC);
  printf("time %lld, gettimeofday %lld.%06ld, timespec_get %lld\n", (long long)time(NULL),
         (long long)day.tv_sec, (long)day.tv_usec, (long long)utc.tv_sec);
}

static void sleep_in_all_ways(void) {
  const struct timespec second = {1, 0};
  begin(), sleep(1), end("sleep");
  begin(), usleep(250000), end("usleep");
  begin(), nanosleep(&second, NULL), end("nanosleep");
  begin(), thrd_sleep(&second, NULL), end("thrd_sleep");
  begin(), clock_nanosleep(CLOCK_MONOTONIC, 0, &second, NULL), end("clock_nanosleep");
  struct timespec at = in(CLOCK_REALTIME, 1000000000);
  begin(), clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL), end("until a date");
  struct timeval limit = {1, 500000};
  begin(), select(0, NULL, NULL, NULL, &limit), end("select");
  begin(), pselect(0, NULL, NULL, NULL, &second, NULL), end("pselect");
  begin(), poll(NULL, 0, 1000), end("poll");
  begin(), ppoll(NULL, 0, &second, NULL), end("ppoll");
}

// These last really, and the virtual time passes with them.
static void wait_for_nothing(void) {
  int both[2];
  if (pipe(both) != 0) {
    return;
  }
  struct pollfd asked = {.fd = both[0], .events = POLLIN};
  begin(), printf("%d descriptors\n", poll(&asked, 1, 20)), end("poll of a pipe");
  const int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(epoll, EPOLL_CTL_ADD, both[0], &event);
  begin(), printf("%d descriptors\n", epoll_wait(epoll, &event, 1, 20)), end("epoll_wait");
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  struct timespec at = in(CLOCK_REALTIME, 20000000);
  pthread_mutex_lock(&mutex);
  begin(), printf("%s\n", strerror(pthread_cond_timedwait(&condition, &mutex, &at)));
  end("condition");
  at = in(CLOCK_REALTIME, 20000000);
  begin();
  const int code = sem_timedwait(&semaphore, &at);
  printf("%d %s\n", code, strerror(errno)), end("semaphore");
  // As std::future::wait_for() does.
  int word = 0;
  at = in(CLOCK_MONOTONIC, 20000000);
  begin();
  const long past = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &at, NULL, ~0);
  printf("%ld %s\n", past, strerror(errno)), end("futex until a moment");
  const struct timespec length = {0, 20000000};
  begin(), syscall(SYS_futex, &word, FUTEX_WAIT, 0, &length, NULL, 0), end("futex for a time");
}

static void* second_thread(void* unused) {
  begin(), usleep(50000), end("a second thread's usleep");
  return unused;
}

int main(int argc, char** argv) {
  const int64_t before = read_ns(CLOCK_REALTIME);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int64_t processor = read_ns(CLOCK_PROCESS_CPUTIME_ID);
  if (argc > 1 && strcmp(argv[1], "spin") == 0) {
    // Without MPI: the clock's readings alone let the second pass.
    const time_t first = time(NULL);
    while (time(NULL) <= first) {
    }
    printf("a second is over, and the processor's clock goes on: %s\n",
           read_ns(CLOCK_PROCESS_CPUTIME_ID) > processor ? "yes" : "no");
  } else if (rank == 0) {
    read_all();
    sleep_in_all_ways();
    wait_for_nothing();
    pthread_t other;
    pthread_create(&other, NULL, second_thread, NULL);
    pthread_join(other, NULL);
    const double wtime = MPI_Wtime();
    sleep(2);
    printf("MPI_Wtime: %.6f s\n", MPI_Wtime() - wtime);
  }
  // A rank that sleeps is not woken by what comes; the others see its time.
  int token = 0;
  if (rank == 1) {
    sleep(3);
  } else if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  if (rank == 1) {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t last = read_ns(CLOCK_REALTIME);
  MPI_Finalize();
  const int64_t after = read_ns(CLOCK_REALTIME);
  printf("rank %d: %lld ns in all, and forward: %s\n", rank, (long long)(last - before),
         after >= last && after - last < 1000000 ? "yes" : "no");
  return 0;
}
