// SPDX-License-Identifier: BSD-3-Clause
// What few programs ask of threads: objects shared by processes, robust mutexes, priorities,
// asynchronous cancellation, stacks of one's own, locks that are given up.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

struct shared {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_barrier_t barrier;
  int state;
};

static struct shared* page;

static void make_shared(void) {
  pthread_mutexattr_t m;
  pthread_condattr_t c;
  pthread_barrierattr_t b;
  page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  CHECK(pthread_mutexattr_init(&m) == 0 && pthread_condattr_init(&c) == 0);
  CHECK(pthread_barrierattr_init(&b) == 0);
  CHECK(pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_barrierattr_setpshared(&b, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_mutex_init(&page->mutex, &m) == 0);
  CHECK(pthread_cond_init(&page->condition, &c) == 0);
  CHECK(pthread_barrier_init(&page->barrier, &b, 3) == 0);
}

static void await_state(int wanted) {
  CHECK(pthread_mutex_lock(&page->mutex) == 0);
  while (page->state != wanted) {
    CHECK(pthread_cond_wait(&page->condition, &page->mutex) == 0);
  }
  CHECK(pthread_mutex_unlock(&page->mutex) == 0);
}

static void set_state(int to) {
  CHECK(pthread_mutex_lock(&page->mutex) == 0);
  page->state = to;
  CHECK(pthread_cond_broadcast(&page->condition) == 0);
  CHECK(pthread_mutex_unlock(&page->mutex) == 0);
}

static void* waits_for_others(void* unused) {
  await_state(1);
  int code = pthread_barrier_wait(&page->barrier);
  CHECK(code == 0 || code == PTHREAD_BARRIER_SERIAL_THREAD);
  return unused;
}

/// Two threads of this process, one of another.
static void between_processes(void) {
  pthread_t a, b;
  make_shared();
  CHECK(pthread_create(&a, NULL, waits_for_others, NULL) == 0);
  CHECK(pthread_create(&b, NULL, waits_for_others, NULL) == 0);
  const int child = fork();
  if (child == 0) {
    usleep(20000);
    set_state(1);
    waits_for_others(NULL);
    set_state(2);
    _exit(0);
  }
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(b, NULL) == 0);
  await_state(2);
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_nsec = (soon.tv_nsec + 1000000) % 1000000000;
  CHECK(pthread_mutex_lock(&page->mutex) == 0);
  while (pthread_cond_timedwait(&page->condition, &page->mutex, &soon) == 0) {
    continue;
  }
  CHECK(pthread_mutex_unlock(&page->mutex) == 0);
  CHECK(pthread_cond_destroy(&page->condition) == 0);
  CHECK(pthread_barrier_destroy(&page->barrier) == 0);
}

// ---- robust mutexes

static pthread_mutex_t robust, another;
static volatile int held;

static void* dies_with_it(void* unused) {
  CHECK(pthread_mutex_lock(&robust) == 0);
  return unused;
}

static void* is_cancelled_with_it(void* unused) {
  CHECK(pthread_mutex_lock(&robust) == 0);
  held = 1;
  for (;;) {
    pause();
  }
  return unused;
}

// Who unlocks what it does not hold is told so, and still leaves what it holds to the next.
static void* unlocks_twice_and_dies(void* unused) {
  CHECK(pthread_mutex_lock(&robust) == 0 && pthread_mutex_lock(&another) == 0);
  CHECK(pthread_mutex_unlock(&another) == 0 && pthread_mutex_unlock(&another) == EPERM);
  return unused;
}

static void* waits_for_it(void* code) {
  *(int*)code = pthread_mutex_lock(&robust);
  if (*(int*)code == EOWNERDEAD) {
    CHECK(pthread_mutex_consistent(&robust) == 0);
  }
  CHECK(pthread_mutex_unlock(&robust) == 0);
  return NULL;
}

static void robust_mutexes(void) {
  pthread_mutexattr_t how;
  pthread_t a, b;
  int code = 0, kept = 0;
  CHECK(pthread_mutexattr_init(&how) == 0);
  CHECK(pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST) == 0);
  CHECK(pthread_mutexattr_getrobust(&how, &kept) == 0 && kept == PTHREAD_MUTEX_ROBUST);
  CHECK(pthread_mutex_init(&robust, &how) == 0 && pthread_mutex_init(&another, &how) == 0);
  CHECK(pthread_mutex_consistent(&robust) == EINVAL);
  CHECK(pthread_mutex_unlock(&robust) == EPERM);
  // Somebody waits while the holder is cancelled.
  CHECK(pthread_create(&a, NULL, is_cancelled_with_it, NULL) == 0);
  while (!held) {
    usleep(1000);
  }
  CHECK(pthread_create(&b, NULL, waits_for_it, &code) == 0);
  usleep(5000);
  CHECK(pthread_cancel(a) == 0);
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(b, NULL) == 0 && code == EOWNERDEAD);
  // In order again, for an ordinary life.
  CHECK(pthread_mutex_lock(&robust) == 0 && pthread_mutex_trylock(&robust) == EBUSY);
  CHECK(pthread_mutex_unlock(&robust) == 0);
  CHECK(pthread_create(&a, NULL, unlocks_twice_and_dies, NULL) == 0);
  CHECK(pthread_join(a, NULL) == 0 && pthread_mutex_trylock(&robust) == EOWNERDEAD);
  CHECK(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
  // Nobody repairs it: lost.
  CHECK(pthread_create(&a, NULL, dies_with_it, NULL) == 0 && pthread_join(a, NULL) == 0);
  CHECK(pthread_mutex_trylock(&robust) == EOWNERDEAD && pthread_mutex_unlock(&robust) == 0);
  CHECK(pthread_mutex_lock(&robust) == ENOTRECOVERABLE);
  CHECK(pthread_mutex_trylock(&robust) == ENOTRECOVERABLE);
  CHECK(pthread_mutex_destroy(&robust) == 0);
}

// ---- priorities, processors

static void* asks(void* unused) {
  struct sched_param p = {-1};
  int policy = -1;
  cpu_set_t set;
  CHECK(pthread_getschedparam(pthread_self(), &policy, &p) == 0);
  CHECK(policy == SCHED_OTHER && p.sched_priority == 0);
  p.sched_priority = 1;
  CHECK(pthread_setschedparam(pthread_self(), SCHED_OTHER, &p) == EINVAL);
  CHECK(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
  CHECK(sched_getaffinity(gettid(), sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
  CHECK(sched_setaffinity(gettid(), sizeof set, &set) == 0);
  CHECK(sched_getscheduler(gettid()) == SCHED_OTHER);
  return unused;
}

// ---- cancellation in a loop without any call

static void* computes(void* unused) {
  int before;
  CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before) == 0);
  for (volatile long i = 0;; ++i) {
    continue;
  }
  return unused;
}

static void asynchronous_cancel(void) {
  pthread_t thread;
  void* result = NULL;
  CHECK(pthread_create(&thread, NULL, computes, NULL) == 0);
  usleep(20000);
  CHECK(pthread_cancel(thread) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

// ---- recursion as deep as a stack of 8 MiB allows

static int deep(int levels) {
  volatile char frame[1000];
  frame[0] = (char)levels;
  return levels == 0 ? 0 : deep(levels - 1) + (frame[0] == (char)levels);
}

static void* recurses(void* unused) {
  CHECK(deep(7000) == 7000);
  return unused;
}

static void alone(void* (*function)(void*)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, function, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

// ---- a writer that gives up

static pthread_rwlock_t rw = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void* gives_up(void* unused) {
  struct timespec until;
  CHECK(clock_gettime(CLOCK_REALTIME, &until) == 0);
  until.tv_nsec += 20 * 1000 * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  CHECK(pthread_rwlock_timedwrlock(&rw, &until) == ETIMEDOUT);
  return unused;
}

static void* reads_beside(void* unused) {
  CHECK(pthread_rwlock_rdlock(&rw) == 0 && pthread_rwlock_unlock(&rw) == 0);
  return unused;
}

static void writer_that_gives_up(void) {
  CHECK(pthread_rwlock_rdlock(&rw) == 0);
  alone(gives_up);
  alone(reads_beside);  // nobody is waiting to write
  CHECK(pthread_rwlock_unlock(&rw) == 0);
}

// ---- barriers

static pthread_barrier_t two;
static int tickets = 40000;

static void* meets_anybody(void* unused) {
  while (__atomic_sub_fetch(&tickets, 1, __ATOMIC_RELAXED) >= 0) pthread_barrier_wait(&two);
  return unused;
}

static void more_threads_than_parties(void) {
  pthread_t thread[4];
  CHECK(pthread_barrier_init(&two, NULL, 2) == 0);
  for (int i = 0; i < 4; ++i) CHECK(pthread_create(&thread[i], NULL, meets_anybody, NULL) == 0);
  for (int i = 0; i < 4; ++i) CHECK(pthread_join(thread[i], NULL) == 0);
  CHECK(pthread_barrier_destroy(&two) == 0);
}

// ---- names

static pthread_t main_thread;

static void* reads_the_main_ones(void* unused) {
  char name[16] = "";
  CHECK(pthread_getname_np(main_thread, name, sizeof name) == 0 && strcmp(name, "the first") == 0);
  return unused;
}

int main(void) {
  main_thread = pthread_self();
  between_processes();
  robust_mutexes();
  alone(asks);
  asynchronous_cancel();
  alone(recurses);
  writer_that_gives_up();
  more_threads_than_parties();
  CHECK(pthread_setname_np(main_thread, "the first") == 0);
  for (int i = 0; i < 2; ++i) alone(reads_the_main_ones);  // on each of two workers
  puts("all parts hold");
  return 0;
}
