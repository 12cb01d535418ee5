// SPDX-License-Identifier: BSD-3-Clause
// Processor time of each thread, its number in system calls, and futexes as libraries use them.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int as_fibers(void) { return getenv("SINEW_TEST_KERNEL_THREADS") != NULL; }

static long ms_of(clockid_t clock) {
  struct timespec now;
  CHECK(clock_gettime(clock, &now) == 0);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static long own_ms(void) { return ms_of(CLOCK_THREAD_CPUTIME_ID); }

/// Until so much of this clock has gone by.
static void compute(clockid_t clock, long ms) {
  const long end = ms_of(clock) + ms;
  while (ms_of(clock) < end) {
    for (volatile int i = 0; i < 10000; ++i) {
      continue;
    }
  }
}

static sem_t go, done, again;

// ---- processor time

/// Who asks for the first time has not begun to live then.
static void* asks_late(void* unused) {
  compute(CLOCK_PROCESS_CPUTIME_ID, 100);
  const long used = own_ms();
  CHECK(used >= 40 && used <= 150);
  return unused;
}

static void* computes(void* unused) {
  CHECK(sem_wait(&go) == 0);
  const long before = own_ms();
  compute(CLOCK_THREAD_CPUTIME_ID, 60);
  CHECK(own_ms() - before >= 60);
  struct rusage used;
  CHECK(getrusage(RUSAGE_THREAD, &used) == 0);
  const long rusage_ms = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                         (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
  CHECK(rusage_ms >= 50 && rusage_ms <= own_ms() + 10);
  CHECK(sem_post(&done) == 0 && sem_wait(&again) == 0);
  return unused;
}

static void time_of_each(void) {
  pthread_t thread;
  clockid_t other, mine;
  CHECK(pthread_create(&thread, NULL, asks_late, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, computes, NULL) == 0);
  CHECK(pthread_getcpuclockid(thread, &other) == 0);
  CHECK(pthread_getcpuclockid(pthread_self(), &mine) == 0);
  const long before = own_ms();
  CHECK(sem_post(&go) == 0);
  // The other one's clock goes on, whether it runs at that moment or not.
  for (long since = ms_of(other); ms_of(other) < since + 10;) {
    usleep(1000);
  }
  CHECK(sem_wait(&done) == 0);
  CHECK(own_ms() - before < 40);  // what the other one has used is not counted here
  CHECK(ms_of(mine) - own_ms() <= 5);
  const long stopped = ms_of(other);
  CHECK(stopped >= 55);
  compute(CLOCK_THREAD_CPUTIME_ID, 30);
  CHECK(ms_of(other) - stopped <= 5);  // it waits
  struct timespec grain;
  CHECK(clock_getres(other, &grain) == 0 && grain.tv_sec == 0);
  CHECK(syscall(SYS_clock_gettime, other, &grain) == 0);
  CHECK(sem_post(&again) == 0 && pthread_join(thread, NULL) == 0);
}

/// A call that nobody sees coming takes the thread away from its worker for a while.
static void* blocks_and_computes(void* from) {
  char line[8];
  const long before = own_ms();
  CHECK(fgets(line, sizeof line, (FILE*)from) != NULL);
  CHECK(own_ms() - before <= 30);
  compute(CLOCK_THREAD_CPUTIME_ID, 40);
  usleep(1000);
  const long used = own_ms() - before;
  CHECK(used >= 40 && used <= 100);
  return NULL;
}

static void time_while_away(void) {
  int ends[2];
  pthread_t thread;
  CHECK(pipe(ends) == 0);
  FILE* from = fdopen(ends[0], "r");
  CHECK(from != NULL && pthread_create(&thread, NULL, blocks_and_computes, from) == 0);
  usleep(100000);
  CHECK(write(ends[1], "line\n", 5) == 5 && pthread_join(thread, NULL) == 0);
  CHECK(fclose(from) == 0 && close(ends[1]) == 0);
}

/// What cannot be had is refused.
static void* sets_timer(void* unused) {
  timer_t timer;
  struct sigevent quiet;
  memset(&quiet, 0, sizeof quiet);
  quiet.sigev_notify = SIGEV_NONE;
  const int code = timer_create(CLOCK_THREAD_CPUTIME_ID, &quiet, &timer);
  CHECK(as_fibers() ? code == -1 && errno == ENOTSUP : code == 0);
  CHECK(timer_create(CLOCK_MONOTONIC, &quiet, &timer) == 0 && timer_delete(timer) == 0);
  return unused;
}

// ---- numbers of threads

static void* nice_thread(void* unused) {
  errno = 0;
  const int now = getpriority(PRIO_PROCESS, (id_t)gettid());
  CHECK(errno == 0);
  CHECK(setpriority(PRIO_PROCESS, (id_t)gettid(), now) == 0);
  CHECK(syscall(SYS_setpriority, PRIO_PROCESS, gettid(), now) == 0);
  CHECK(setpriority(PRIO_PROCESS, (id_t)INT_MAX, now) == -1 && errno == ESRCH);
  return unused;
}

// ---- futexes

static uint32_t word;
static int woken[2];

static void* waits_for_bit(void* number) {
  const int i = (int)(intptr_t)number;
  CHECK(sem_post(&done) == 0);
  for (;;) {
    const uint32_t now = __atomic_load_n(&word, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&woken[i], __ATOMIC_SEQ_CST) != 0) {
      break;
    }
    syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, now, NULL, NULL, 1U << i);
  }
  return NULL;
}

/// One word, two waiters: each wake-up is for one of them, and the first in the queue is the other.
static void bits(void) {
  pthread_t thread[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(pthread_create(&thread[i], NULL, waits_for_bit, (void*)(intptr_t)i) == 0);
    CHECK(sem_wait(&done) == 0);
    usleep(20000);
  }
  for (int i = 1; i >= 0; --i) {
    __atomic_store_n(&woken[i], 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 1U << i);
    CHECK(pthread_join(thread[i], NULL) == 0);
  }
}

static uint32_t pair[2];

static void* waits_for_pair(void* number) {
  const int i = (int)(intptr_t)number;
  CHECK(sem_post(&done) == 0);
  while (__atomic_load_n(&pair[i], __ATOMIC_SEQ_CST) == 0) {
    syscall(SYS_futex, &pair[i], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  }
  return NULL;
}

/// One call that changes a word and wakes the waiters of two.
static void both(void) {
  pthread_t thread[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(pthread_create(&thread[i], NULL, waits_for_pair, (void*)(intptr_t)i) == 0);
    CHECK(sem_wait(&done) == 0);
    usleep(20000);
  }
  pair[0] = 1;
  CHECK(syscall(SYS_futex, &pair[0], FUTEX_WAKE_OP_PRIVATE, 1, 1, &pair[1],
                FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 0)) >= 0);
  for (int i = 0; i < 2; ++i) {
    CHECK(pthread_join(thread[i], NULL) == 0);
  }
}

/// The kernel's own owners are kernel threads: fibers have no such locks.
static void* owns(void* unused) {
  uint32_t lock = 0;
  const long code = syscall(SYS_futex, &lock, FUTEX_TRYLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
  CHECK(as_fibers() ? code == -1 && errno == ENOSYS : code == 0);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK(sem_init(&go, 0, 0) == 0 && sem_init(&done, 0, 0) == 0 && sem_init(&again, 0, 0) == 0);
  time_of_each();
  time_while_away();
  void* (*alone[])(void*) = {sets_timer, nice_thread, owns};
  for (int i = 0; i < 3; ++i) {
    CHECK(pthread_create(&thread, NULL, alone[i], NULL) == 0 && pthread_join(thread, NULL) == 0);
  }
  bits();
  both();
  puts("all parts hold");
  return 0;
}
