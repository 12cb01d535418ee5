// SPDX-License-Identifier: BSD-3-Clause
// Kernel threads that the program makes itself, by clone(), beside its pthreads: with the C library
// and its objects, and without.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { stack_bytes = 1 << 16, rounds = 400 };
static const int as_thread =
    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

static volatile int word;
static int count, turns;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t ended;

static void start(int (*entry)(void*), int more, int* number) {
  char* stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stack != MAP_FAILED);
  CHECK(clone(entry, stack + stack_bytes, as_thread | more, NULL, NULL, NULL, number) > 0);
}

static long call(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}

/// As a runtime that does without the C library.
static int sets_word(void* unused) {
  (void)unused;
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  call(SYS_futex, (long)&word, FUTEX_WAKE, 1, 0);
  call(SYS_exit, 0, 0, 0, 0);
  return 0;
}

static int counts(void* unused) {
  (void)unused;
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&mutex);
    ++count;
    if (i % 100 == 0) usleep(100);
    pthread_mutex_unlock(&mutex);
  }
  sem_post(&ended);
  return 0;
}

/// Takes turns with the other one.
static void take_turns(int me) {
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < 100; ++i) {
    while (turns % 2 != me) pthread_cond_wait(&condition, &mutex);
    ++turns;
    pthread_cond_broadcast(&condition);
  }
  pthread_mutex_unlock(&mutex);
}

static int takes_turns(void* unused) {
  (void)unused;
  take_turns(0);
  sem_post(&ended);
  return 0;
}

static void* makes_them(void* unused) {
  int gone = 1;
  word = turns = 0;
  start(sets_word, 0, NULL);
  while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0) call(SYS_futex, (long)&word, 0, 0, 0);
  start(counts, 0, NULL);
  start(counts, CLONE_CHILD_CLEARTID, &gone);
  counts(NULL);
  for (int i = 0; i < 3; ++i) CHECK(sem_wait(&ended) == 0);
  while (__atomic_load_n(&gone, __ATOMIC_ACQUIRE) != 0) usleep(100);
  start(takes_turns, 0, NULL);
  take_turns(1);
  CHECK(sem_wait(&ended) == 0 && turns == 200);
  return unused;
}

/// While the thread that has made it, on whose storage it would be, computes and gives way.
static void gives_way(void) {
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&mutex);
    ++count;
    pthread_mutex_unlock(&mutex);
    sched_yield();
  }
}

static int gives_way_beside(void* unused) {
  (void)unused;
  gives_way();
  sem_post(&ended);
  return 0;
}

static void* gives_way_twice(void* unused) {
  start(gives_way_beside, 0, NULL);
  gives_way();
  CHECK(sem_wait(&ended) == 0);
  return unused;
}

static void* counts_as_thread(void* unused) {
  counts(NULL);
  return unused;
}

int main(void) {
  pthread_t thread, beside[3];
  alarm(40);
  CHECK(sem_init(&ended, 0, 0) == 0);
  for (int i = 0; i < 3; ++i) {
    CHECK(pthread_create(&thread, NULL, makes_them, NULL) == 0 && pthread_join(thread, NULL) == 0);
  }
  makes_them(NULL);
  CHECK(count == 4 * 3 * rounds);
  for (int i = 0; i < 3; ++i) {
    CHECK(pthread_create(&beside[i], NULL, counts_as_thread, NULL) == 0);
  }
  start(counts, 0, NULL);
  for (int i = 0; i < 3; ++i) CHECK(pthread_join(beside[i], NULL) == 0);
  for (int i = 0; i < 4; ++i) CHECK(sem_wait(&ended) == 0);
  CHECK(count == (4 * 3 + 4) * rounds);
  count = 0;
  for (int i = 0; i < 3; ++i) {
    CHECK(pthread_create(&beside[i], NULL, gives_way_twice, NULL) == 0);
  }
  for (int i = 0; i < 3; ++i) CHECK(pthread_join(beside[i], NULL) == 0);
  CHECK(count == 3 * 2 * 100);
  puts("all parts hold");
  return 0;
}
