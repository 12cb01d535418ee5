// SPDX-License-Identifier: BSD-3-Clause
// How threads end: cancelled or signalled before they run, joined and detached more than once, and
// the main thread by pthread_exit.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t signalled;
static sem_t begun;

static void count_signal(int number) { signalled += number == SIGUSR1; }

static void* sleeps(void* unused) {
  for (;;) sleep(1000);
  return unused;
}

static void* awaits_a_signal(void* unused) {
  while (signalled == 0) usleep(1000);
  return unused;
}

static void* returns(void* result) { return result; }

static void* is_detached(void* unused) {
  CHECK(sem_post(&begun) == 0);
  usleep(20000);
  return unused;
}

// ---- Before a thread's first run.

static void cancelled_early(void) {
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    void* result = NULL;
    CHECK(pthread_create(&thread, NULL, sleeps, NULL) == 0 && pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  }
}

static void signalled_early(void) {
  pthread_t thread;
  CHECK(signal(SIGUSR1, count_signal) != SIG_ERR);
  CHECK(pthread_create(&thread, NULL, awaits_a_signal, NULL) == 0);
  CHECK(pthread_kill(thread, 0) == 0 && pthread_kill(thread, SIGUSR1) == 0);
  CHECK(pthread_kill(thread, -1) == EINVAL && pthread_kill(thread, 1000) == EINVAL);
  CHECK(pthread_join(thread, NULL) == 0 && signalled == 1);
}

// ---- What has been joined or detached.

static void joined_again(void) {
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    void* result = NULL;
    CHECK(pthread_create(&thread, NULL, returns, &begun) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == &begun);
    CHECK(pthread_detach(thread) == ESRCH);
    CHECK(pthread_join(thread, NULL) == ESRCH);
    CHECK(pthread_detach(thread) == ESRCH);
  }
}

static void detached_again(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, is_detached, NULL) == 0 && sem_wait(&begun) == 0);
  CHECK(pthread_detach(thread) == 0 && pthread_detach(thread) == EINVAL);
  CHECK(pthread_join(thread, NULL) == EINVAL);
  usleep(100000);
  // Of a thread that is gone glibc keeps nothing to ask for.
  if (getenv("SINEW_TEST_KERNEL_THREADS") == NULL) return;
  CHECK(pthread_detach(thread) == ESRCH && pthread_join(thread, NULL) == ESRCH);
  CHECK(pthread_kill(thread, 0) == ESRCH && pthread_cancel(thread) == ESRCH);
}

static void* looks_at_its_type(void* how) {
  int before = -1;
  CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before) == 0);
  CHECK(before == PTHREAD_CANCEL_DEFERRED);
  CHECK(pthread_setcanceltype(1000, NULL) == EINVAL);
  return how;
}

static void types_of_cancellation(void) {
  for (int i = 0; i < 5; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, looks_at_its_type, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
}

// ---- Attributes say what they mean.

static void attributes(void) {
  pthread_mutexattr_t how;
  int protocol = -1;
  CHECK(pthread_mutexattr_init(&how) == 0);
  CHECK(pthread_mutexattr_setprotocol(&how, -1) == EINVAL);
  CHECK(pthread_mutexattr_setprotocol(&how, 1000) == EINVAL);
  CHECK(pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT) == 0);
  CHECK(pthread_mutexattr_getprotocol(&how, &protocol) == 0 && protocol == PTHREAD_PRIO_INHERIT);
  pthread_mutex_t m;
  CHECK(pthread_mutex_init(&m, &how) == 0 && pthread_mutex_lock(&m) == 0);
  CHECK(pthread_mutex_unlock(&m) == 0 && pthread_mutex_destroy(&m) == 0);
  CHECK(pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_NONE) == 0);
  CHECK(pthread_mutexattr_getprotocol(&how, &protocol) == 0 && protocol == PTHREAD_PRIO_NONE);
  CHECK(pthread_mutexattr_setrobust(&how, 1000) == EINVAL);
  CHECK(pthread_mutexattr_setpshared(&how, 1000) == EINVAL);
}

static void* has_the_systems_stack(void* unused) {
  pthread_attr_t mine, usual;
  size_t bytes = 0, expected = 0;
  void* low = NULL;
  CHECK(pthread_getattr_np(pthread_self(), &mine) == 0 && pthread_attr_init(&usual) == 0);
  CHECK(pthread_attr_getstack(&mine, &low, &bytes) == 0);
  CHECK(pthread_attr_getstacksize(&usual, &expected) == 0 && bytes >= expected / 2);
  volatile char large[3 << 20];  // a third of what the system's threads have
  for (size_t i = 0; i < sizeof large; i += 4096) large[i] = 1;
  CHECK((char*)low < (char*)&large[0] && (char*)&large[0] < (char*)low + bytes);
  return unused;
}

static void* tells_where(void* place) {
  char here;
  *(uintptr_t*)place = (uintptr_t)&here;
  return NULL;
}

static void stack_of_a_thread_that_begins(size_t asked) {
  pthread_attr_t its;
  pthread_t thread;
  uintptr_t there = 0;
  size_t bytes = 0;
  void* low = NULL;
  CHECK(pthread_attr_init(&its) == 0 && pthread_attr_setstacksize(&its, asked) == 0);
  CHECK(pthread_create(&thread, &its, tells_where, &there) == 0);
  CHECK(pthread_getattr_np(thread, &its) == 0 && pthread_attr_getstack(&its, &low, &bytes) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(there - (uintptr_t)low < bytes);
}

static void stacks(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, has_the_systems_stack, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  for (int i = 0; i < 3; ++i) stack_of_a_thread_that_begins((size_t)(256 << 10) << i);
}

// ---- The main thread ends, the last one looks at what it has left behind.

static pthread_t main_thread;
static volatile int cleaned, destroyed;

static void clean(void* by) { cleaned += *(int*)by; }
static void destroy(void* value) { destroyed += *(int*)value; }

static void* outlives_main(void* value) {
  void* result = NULL;
  CHECK(pthread_join(main_thread, &result) == 0 && result == value);
  CHECK(cleaned == 7 && destroyed == 7);
  puts("all parts hold");
  return NULL;
}

// ---- Cancelled while it blocks in the C library, before and after others run on.

static char fifo[] = "/tmp/sinew-endings-XXXXXX";
static int empty[2], cleaned_up;
static pthread_mutex_t shared_mutex;
static pthread_cond_t shared_condition;

static void count_clean(void* unused) {
  (void)unused;
  ++cleaned_up;
}

static void unlock(void* mutex) {
  ++cleaned_up;
  CHECK(pthread_mutex_unlock(mutex) == 0);
}

static void* reads_a_line(void* unused) {
  char line[8];
  FILE* const in = fdopen(dup(empty[0]), "r");
  pthread_cleanup_push(count_clean, NULL);
  CHECK(fgets(line, sizeof line, in) != NULL);
  pthread_cleanup_pop(0);
  return unused;
}

static void* opens_a_fifo(void* unused) {
  pthread_cleanup_push(count_clean, NULL);
  CHECK(open(fifo, O_RDONLY) >= 0);
  pthread_cleanup_pop(0);
  return unused;
}

static void* waits_between_processes(void* unused) {
  CHECK(pthread_mutex_lock(&shared_mutex) == 0);
  pthread_cleanup_push(unlock, &shared_mutex);
  for (;;) CHECK(pthread_cond_wait(&shared_condition, &shared_mutex) == 0);
  pthread_cleanup_pop(0);
  return unused;
}

static void cancelled_in_the_kernel(void) {
  static void* (*const all[])(void*) = {reads_a_line, opens_a_fifo, waits_between_processes};
  static const int delays_us[] = {0, 1000, 6000, 30000};
  pthread_mutexattr_t m;
  pthread_condattr_t c;
  CHECK(pthread_mutexattr_init(&m) == 0 && pthread_condattr_init(&c) == 0);
  CHECK(pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_mutex_init(&shared_mutex, &m) == 0);
  CHECK(pthread_cond_init(&shared_condition, &c) == 0);
  CHECK(pipe(empty) == 0 && close(mkstemp(fifo)) == 0);
  CHECK(unlink(fifo) == 0 && mkfifo(fifo, 0600) == 0);
  for (int i = 0; i < 12; ++i) {
    pthread_t thread;
    void* result = NULL;
    cleaned_up = 0;
    CHECK(pthread_create(&thread, NULL, all[i % 3], NULL) == 0);
    usleep(delays_us[i / 3]);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED && (cleaned_up == 1 || i < 3));
  }
  CHECK(unlink(fifo) == 0);
}

static void leave_from_below(void* result) {
  int two = 2;
  pthread_cleanup_push(clean, &two);
  pthread_exit(result);
  pthread_cleanup_pop(0);
}

int main(void) {
  static int seven = 7;
  int five = 5;
  pthread_key_t key;
  pthread_t last;
  CHECK(sem_init(&begun, 0, 0) == 0);
  cancelled_early();
  signalled_early();
  joined_again();
  detached_again();
  types_of_cancellation();
  attributes();
  stacks();
  cancelled_in_the_kernel();
  main_thread = pthread_self();
  CHECK(pthread_key_create(&key, destroy) == 0 && pthread_setspecific(key, &seven) == 0);
  CHECK(pthread_create(&last, NULL, outlives_main, &seven) == 0);
  pthread_cleanup_push(clean, &five);
  leave_from_below(&seven);
  pthread_cleanup_pop(0);
  return 1;
}
