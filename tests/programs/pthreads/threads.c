// SPDX-License-Identifier: BSD-3-Clause
// Pthreads as POSIX has them: each part must hold for kernel threads and for fibers.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static __thread int own = 5;
static __thread char zeros[1000];

static struct timespec from_now(clockid_t clock, long ms) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += ms * 1000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

// ---- Create, join, own storage; often enough that blocks are reused.

static pthread_key_t key;
static int destroyed;

static void destroy(void* value) { __sync_fetch_and_add((int*)value, 1); }

static void* storage_body(void* number) {
  CHECK(own == 5 && zeros[0] == 0 && zeros[999] == 0 && errno == 0);
  CHECK(pthread_getspecific(key) == NULL && isalpha('x') && !isalpha('1'));
  own = (int)(long)number;
  memset(zeros, 1, sizeof zeros);
  errno = own;
  pthread_setspecific(key, &destroyed);
  free(malloc(1 + (size_t)number % 900));
  sched_yield();
  CHECK(own == (int)(long)number && errno == own && zeros[500] == 1);
  if ((long)number % 3 == 0) pthread_exit(number);
  return number;
}

// As the kernel counts them. The test says how many there may be when threads are fibers.
static void count_kernel_threads(void) {
  const char* expected = getenv("SINEW_TEST_KERNEL_THREADS");
  if (expected == NULL) return;
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  CHECK(tasks != NULL);
  for (struct dirent* each; (each = readdir(tasks)) != NULL;) count += each->d_name[0] != '.';
  closedir(tasks);
  // Workers, their monitor, and a few that took over from workers that were stuck.
  CHECK(count >= atoi(expected) && count <= atoi(expected) + 5);
}

static void storage(void) {
  CHECK(pthread_key_create(&key, destroy) == 0);
  for (int round = 0; round < 30; ++round) {
    pthread_t thread[40];
    for (long i = 0; i < 40; ++i)
      CHECK(pthread_create(&thread[i], NULL, storage_body, (void*)i) == 0);
    count_kernel_threads();
    for (long i = 0; i < 40; ++i) {
      void* result = NULL;
      CHECK(pthread_join(thread[i], &result) == 0 && (long)result == i);
    }
  }
  CHECK(destroyed == 30 * 40);
  CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
}

// ---- Mutexes of all kinds.

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void* mutex_body(void* unused) {
  CHECK(pthread_mutex_trylock(&recursive) == EBUSY);
  CHECK(pthread_mutex_unlock(&checked) == EPERM);
  const struct timespec soon = from_now(CLOCK_REALTIME, 20);
  CHECK(pthread_mutex_timedlock(&recursive, &soon) == ETIMEDOUT);
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&plain);
    const long before = counter;
    if (i % 100 == 0) sched_yield();
    counter = before + 1;
    pthread_mutex_unlock(&plain);
  }
  return unused;
}

static void mutexes(void) {
  pthread_t thread[8];
  CHECK(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
  CHECK(pthread_mutex_lock(&checked) == 0 && pthread_mutex_lock(&checked) == EDEADLK);
  for (int i = 0; i < 8; ++i) CHECK(pthread_create(&thread[i], NULL, mutex_body, NULL) == 0);
  for (int i = 0; i < 8; ++i) CHECK(pthread_join(thread[i], NULL) == 0);
  CHECK(counter == 8 * 1000);
  CHECK(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
  CHECK(pthread_mutex_unlock(&recursive) == EPERM && pthread_mutex_unlock(&checked) == 0);
  CHECK(pthread_mutex_destroy(&plain) == 0);
}

// ---- Conditions, barriers, semaphores, read-write locks.

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t slots;
static int turn, serial, inside, readers;

static void* meeting_body(void* number) {
  for (int round = 0; round < 50; ++round) {
    pthread_mutex_lock(&m);
    while (turn % 6 != (int)(long)number) pthread_cond_wait(&changed, &m);
    ++turn;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&m);
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
      __sync_fetch_and_add(&serial, 1);
    CHECK(sem_wait(&slots) == 0);
    CHECK(__sync_add_and_fetch(&inside, 1) <= 2);
    sched_yield();
    __sync_fetch_and_sub(&inside, 1);
    CHECK(sem_post(&slots) == 0);
    if (round % 5 == (long)number % 5) {
      CHECK(pthread_rwlock_wrlock(&lock) == 0 && readers == 0);
      CHECK(pthread_rwlock_tryrdlock(&lock) == EBUSY);
      sched_yield();
      CHECK(readers == 0);
    } else {
      CHECK(pthread_rwlock_rdlock(&lock) == 0);
      __sync_fetch_and_add(&readers, 1);
      sched_yield();
      __sync_fetch_and_sub(&readers, 1);
    }
    CHECK(pthread_rwlock_unlock(&lock) == 0);
  }
  return NULL;
}

static void meetings(void) {
  pthread_t thread[6];
  CHECK(pthread_barrier_init(&barrier, NULL, 6) == 0 && sem_init(&slots, 0, 2) == 0);
  for (long i = 0; i < 6; ++i)
    CHECK(pthread_create(&thread[i], NULL, meeting_body, (void*)i) == 0);
  for (int i = 0; i < 6; ++i) CHECK(pthread_join(thread[i], NULL) == 0);
  CHECK(turn == 300 && serial == 50 && pthread_barrier_destroy(&barrier) == 0);
  int value = -1;
  CHECK(sem_getvalue(&slots, &value) == 0 && value == 2);

  pthread_condattr_t by_monotonic;
  pthread_cond_t timed;
  CHECK(pthread_condattr_init(&by_monotonic) == 0);
  CHECK(pthread_condattr_setclock(&by_monotonic, CLOCK_MONOTONIC) == 0);
  CHECK(pthread_cond_init(&timed, &by_monotonic) == 0);
  const struct timespec soon = from_now(CLOCK_MONOTONIC, 20);
  pthread_mutex_lock(&m);
  int code;
  while ((code = pthread_cond_timedwait(&timed, &m, &soon)) == 0) continue;
  CHECK(code == ETIMEDOUT && pthread_mutex_unlock(&m) == 0);
  CHECK(sem_wait(&slots) == 0 && sem_wait(&slots) == 0);
  CHECK(sem_trywait(&slots) == -1 && errno == EAGAIN);
  const struct timespec later = from_now(CLOCK_REALTIME, 20);
  CHECK(sem_timedwait(&slots, &later) == -1 && errno == ETIMEDOUT);
}

// ---- Cancellation and detached threads.

static sem_t begun, done;
static int cleaned;

static void unlock(void* mutex) { pthread_mutex_unlock(mutex); }

static void clean(void* by) { cleaned += (int)(long)by; }

static void* cancelled_body(void* how) {
  pthread_cleanup_push(clean, (void*)1);
  CHECK(sem_post(&begun) == 0);
  if (how == NULL) {
    pthread_mutex_lock(&m);
    pthread_cleanup_push(unlock, &m);
    for (;;) pthread_cond_wait(&changed, &m);
    pthread_cleanup_pop(1);
  } else {
    for (;;) sleep(1000);
  }
  pthread_cleanup_pop(0);
  return NULL;
}

static void* detached_body(void* unused) {
  CHECK(sem_post(&done) == 0);
  return unused;
}

static void endings(void) {
  CHECK(sem_init(&begun, 0, 0) == 0 && sem_init(&done, 0, 0) == 0);
  for (long how = 0; how < 2; ++how) {
    pthread_t thread;
    void* result = NULL;
    CHECK(pthread_create(&thread, NULL, cancelled_body, (void*)how) == 0);
    CHECK(sem_wait(&begun) == 0);
    usleep(1000);
    const struct timespec soon = from_now(CLOCK_REALTIME, 10);
    CHECK(pthread_tryjoin_np(thread, &result) == EBUSY);
    CHECK(pthread_timedjoin_np(thread, &result, &soon) == ETIMEDOUT);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED && cleaned == how + 1);
  }
  CHECK(pthread_mutex_trylock(&m) == 0 && pthread_mutex_unlock(&m) == 0);
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, 1 << 20) == 0);
  for (int i = 0; i < 200; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, i % 2 == 0 ? &attributes : NULL, detached_body, NULL) == 0);
    if (i % 2 != 0) CHECK(pthread_detach(thread) == 0);
  }
  for (int i = 0; i < 200; ++i) CHECK(sem_wait(&done) == 0);
}

// ---- Waiting without blocking calls: who holds the processor must not keep it.

static volatile int flag;
static pthread_spinlock_t spin;

static void* slow_body(void* unused) {
  for (int i = 0; i < 10; ++i) sched_yield();
  pthread_mutex_lock(&m);
  flag = 1;
  pthread_mutex_unlock(&m);
  CHECK(pthread_spin_lock(&spin) == 0);
  flag = 2;
  CHECK(pthread_spin_unlock(&spin) == 0);
  return unused;
}

static void polling(void) {
  pthread_t thread;
  CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0 && pthread_spin_lock(&spin) == 0);
  CHECK(pthread_create(&thread, NULL, slow_body, NULL) == 0);
  for (int seen = 0; !seen;) {
    pthread_mutex_lock(&m);
    seen = flag;
    pthread_mutex_unlock(&m);
  }
  CHECK(flag == 1 && pthread_spin_unlock(&spin) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && flag == 2);
}

// ---- fork, once, C11's names, a deep stack.

static int once_count, deep_bytes;
static once_flag once = ONCE_FLAG_INIT;

static void count_once(void) {
  usleep(1000);
  ++once_count;
}

static int deep(int levels) {
  volatile char page[4096];
  page[0] = (char)levels;
  deep_bytes += (int)sizeof page;
  return levels == 0 ? page[0] : deep(levels - 1) + page[0];
}

static int child_body(void* unused) {
  (void)unused;
  return 3;
}

static int c11_body(void* unused) {
  (void)unused;
  call_once(&once, count_once);
  CHECK(once_count == 1);
  deep(40);
  const pid_t child = fork();
  if (child == 0) {  // it may have threads, too
    thrd_t one;
    int result = 0;
    CHECK(thrd_create(&one, child_body, NULL) == thrd_success);
    CHECK(thrd_join(one, &result) == thrd_success && result == 3);
    CHECK(pthread_mutex_trylock(&m) == 0 && own == 5);
    _exit(7);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  return 42;
}

static void others(void) {
  thrd_t thread[5];
  for (int i = 0; i < 5; ++i) CHECK(thrd_create(&thread[i], c11_body, NULL) == thrd_success);
  for (int i = 0; i < 5; ++i) {
    int result = 0;
    CHECK(thrd_join(thread[i], &result) == thrd_success && result == 42);
  }
}

// ---- Pipes between threads.

static int ends[2];

static void* reader_body(void* unused) {
  long bytes = 0;
  char chunk[8192];
  ssize_t now;
  while ((now = read(ends[0], chunk, sizeof chunk)) > 0) bytes += now;
  CHECK(now == 0 && bytes == 1 << 20);
  return unused;
}

static void pipes(void) {
  static char data[1 << 16];
  pthread_t thread;
  CHECK(pipe(ends) == 0 && pthread_create(&thread, NULL, reader_body, NULL) == 0);
  for (int i = 0; i < 8; ++i) CHECK(write(ends[1], data, sizeof data) == (ssize_t)sizeof data);
  sched_yield();
  for (int i = 0; i < 8; ++i) CHECK(write(ends[1], data, sizeof data) == (ssize_t)sizeof data);
  CHECK(close(ends[1]) == 0 && pthread_join(thread, NULL) == 0);
}

static void* last_body(void* unused) {
  usleep(20000);
  puts("all parts hold");
  return unused;
}

int main(void) {
  storage();
  mutexes();
  meetings();
  endings();
  polling();
  others();
  pipes();
  pthread_t last;
  CHECK(pthread_create(&last, NULL, last_body, NULL) == 0 && pthread_detach(last) == 0);
  pthread_exit(NULL);  // the process lives as long as its last thread
}
