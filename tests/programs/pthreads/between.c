// SPDX-License-Identifier: BSD-3-Clause
// Mutexes and conditions between processes, of which the other one has fibers, too, or the system's
// threads: those that know their owner, robust ones, and conditions with any mutex.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

extern char** environ;

struct page {
  pthread_mutex_t recursive, checking, robust, inheriting;
  pthread_cond_t condition;
  volatile int stage, answer;
};

static struct page* page;
static int file;

static void init_mutex(pthread_mutex_t* m, int type, int robust, int protocol) {
  pthread_mutexattr_t how;
  CHECK(pthread_mutexattr_init(&how) == 0);
  CHECK(pthread_mutexattr_settype(&how, type) == 0);
  CHECK(pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_mutexattr_setrobust(&how, robust) == 0);
  CHECK(pthread_mutexattr_setprotocol(&how, protocol) == 0);
  CHECK(pthread_mutex_init(m, &how) == 0);
}

static void map_page(void) {
  page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(page != MAP_FAILED);
}

static void make_page(void) {
  pthread_condattr_t how;
  file = memfd_create("page", 0);
  CHECK(file >= 0 && ftruncate(file, sizeof *page) == 0);
  map_page();
  init_mutex(&page->recursive, PTHREAD_MUTEX_RECURSIVE, 0, 0);
  init_mutex(&page->checking, PTHREAD_MUTEX_ERRORCHECK, 0, 0);
  init_mutex(&page->robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, 0);
  init_mutex(&page->inheriting, PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT);
  CHECK(pthread_condattr_init(&how) == 0);
  CHECK(pthread_condattr_setpshared(&how, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_condattr_setclock(&how, CLOCK_MONOTONIC) == 0);
  CHECK(pthread_cond_init(&page->condition, &how) == 0);
}

static void await_stage(int wanted) {
  while (page->stage < wanted) usleep(500);
}

static void in_thread(void* (*entry)(void*)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, entry, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

// ---- what the other process does

static void* other_asks(void* unused) {
  CHECK(pthread_mutex_trylock(&page->recursive) == EBUSY);
  CHECK(pthread_mutex_unlock(&page->recursive) == EPERM);
  CHECK(pthread_mutex_trylock(&page->checking) == EBUSY);
  CHECK(pthread_mutex_unlock(&page->checking) == EPERM);
  page->stage = 1;
  CHECK(pthread_mutex_lock(&page->recursive) == 0 && page->answer == 42);
  CHECK(pthread_mutex_lock(&page->recursive) == 0);
  CHECK(pthread_mutex_unlock(&page->recursive) == 0);
  CHECK(pthread_mutex_unlock(&page->recursive) == 0);
  return unused;
}

static void* other_dies(void* unused) {
  CHECK(pthread_mutex_lock(&page->robust) == 0);
  page->stage = 1;
  pause();
  return unused;
}

static void* other_repairs(void* unused) {
  CHECK(pthread_mutex_lock(&page->robust) == EOWNERDEAD);
  CHECK(pthread_mutex_consistent(&page->robust) == 0);
  CHECK(pthread_mutex_unlock(&page->robust) == 0);
  CHECK(pthread_mutex_lock(&page->robust) == 0);
  CHECK(pthread_mutex_unlock(&page->robust) == 0);
  return unused;
}

static void* other_tells(void* unused) {
  usleep(10000);
  CHECK(pthread_mutex_lock(&page->robust) == 0);
  page->stage = 1;
  CHECK(pthread_cond_broadcast(&page->condition) == 0);
  CHECK(pthread_mutex_unlock(&page->robust) == 0);
  return unused;
}

static void* (*const parts[])(void*) = {other_asks, other_dies, other_repairs, other_tells};

/// This program again, for a part of it; with the system's threads if `plain`.
static pid_t start(int part, int plain) {
  char number[12], descriptor[12];
  char* words[] = {"between", number, descriptor, NULL};
  char* before = getenv("LD_PRELOAD");
  char* kept = before == NULL ? NULL : strdup(before);
  pid_t child = 0;
  snprintf(number, sizeof number, "%d", part);
  snprintf(descriptor, sizeof descriptor, "%d", file);
  page->stage = 0;
  if (plain) unsetenv("LD_PRELOAD");
  CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) == 0);
  if (kept != NULL) setenv("LD_PRELOAD", kept, 1);
  free(kept);
  return child;
}

static void ends_well(pid_t child) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

// ---- owners

static int plain;

static void* holds(void* unused) {
  CHECK(pthread_mutex_lock(&page->recursive) == 0 && pthread_mutex_lock(&page->recursive) == 0);
  CHECK(pthread_mutex_lock(&page->checking) == 0);
  CHECK(pthread_mutex_lock(&page->checking) == EDEADLK);
  CHECK(pthread_mutex_trylock(&page->checking) == EBUSY);
  const pid_t other = start(0, plain);
  await_stage(1);
  CHECK(pthread_mutex_unlock(&page->checking) == 0);
  CHECK(pthread_mutex_unlock(&page->checking) == EPERM);
  CHECK(pthread_mutex_unlock(&page->recursive) == 0);
  usleep(5000);
  page->answer = 42;
  CHECK(pthread_mutex_unlock(&page->recursive) == 0);
  ends_well(other);
  page->answer = 0;
  return unused;
}

static void* may_not(void* unused) {
  CHECK(pthread_mutex_trylock(&page->recursive) == EBUSY);
  CHECK(pthread_mutex_unlock(&page->recursive) == EPERM);
  CHECK(pthread_mutex_unlock(&page->checking) == EPERM);
  CHECK(pthread_mutex_consistent(&page->robust) == EINVAL);
  CHECK(pthread_mutex_unlock(&page->robust) == EPERM);
  return unused;
}

/// The main thread has taken them before there was another one.
static void main_gives_back(void) {
  CHECK(pthread_mutex_lock(&page->recursive) == 0);
  CHECK(pthread_mutex_unlock(&page->recursive) == 0);
  CHECK(pthread_mutex_unlock(&page->recursive) == 0);
  CHECK(pthread_mutex_lock(&page->checking) == EDEADLK);
  CHECK(pthread_mutex_unlock(&page->checking) == 0);
  CHECK(pthread_mutex_unlock(&page->robust) == 0);
}

// ---- owners that die

static void* ends_with_it(void* unused) {
  CHECK(pthread_mutex_lock(&page->robust) == 0);
  return unused;
}

static void* finds_it(void* unused) {
  CHECK(pthread_mutex_lock(&page->robust) == EOWNERDEAD);
  CHECK(pthread_mutex_consistent(&page->robust) == 0);
  CHECK(pthread_mutex_consistent(&page->robust) == EINVAL);
  CHECK(pthread_mutex_unlock(&page->robust) == 0);
  CHECK(pthread_mutex_lock(&page->robust) == 0 && pthread_mutex_unlock(&page->robust) == 0);
  return unused;
}

static void owner_is_killed(void) {
  pthread_t waits;
  const pid_t other = start(1, plain);
  await_stage(1);
  CHECK(pthread_mutex_trylock(&page->robust) == EBUSY);
  CHECK(pthread_create(&waits, NULL, finds_it, NULL) == 0);
  usleep(5000);
  CHECK(kill(other, SIGKILL) == 0 && waitpid(other, NULL, 0) == other);
  CHECK(pthread_join(waits, NULL) == 0);
}

static void owner_ends(void) {
  in_thread(ends_with_it);
  in_thread(finds_it);
  in_thread(ends_with_it);
  ends_well(start(2, plain));
}

static void* does_not_repair(void* unused) {
  CHECK(pthread_mutex_trylock(&page->robust) == EOWNERDEAD);
  CHECK(pthread_mutex_unlock(&page->robust) == 0);
  CHECK(pthread_mutex_lock(&page->robust) == ENOTRECOVERABLE);
  CHECK(pthread_mutex_trylock(&page->robust) == ENOTRECOVERABLE);
  return unused;
}

// ---- conditions

static pthread_mutex_t private_one = PTHREAD_MUTEX_INITIALIZER;
static int released;

static void* waits_with_private(void* unused) {
  CHECK(pthread_mutex_lock(&private_one) == 0);
  while (!released) CHECK(pthread_cond_wait(&page->condition, &private_one) == 0);
  CHECK(pthread_mutex_unlock(&private_one) == 0);
  return unused;
}

static void with_a_private_mutex(void) {
  pthread_t all[3];
  for (int i = 0; i < 3; ++i) CHECK(pthread_create(&all[i], NULL, waits_with_private, NULL) == 0);
  usleep(5000);
  CHECK(pthread_mutex_lock(&private_one) == 0);
  released = 1;
  CHECK(pthread_cond_broadcast(&page->condition) == 0);
  usleep(2000);
  CHECK(pthread_mutex_unlock(&private_one) == 0);
  for (int i = 0; i < 3; ++i) CHECK(pthread_join(all[i], NULL) == 0);
}

static void* waits_with_robust(void* unused) {
  CHECK(pthread_mutex_lock(&page->robust) == 0);
  while (page->stage == 0) CHECK(pthread_cond_wait(&page->condition, &page->robust) == 0);
  struct timespec end;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &end) == 0);
  end.tv_nsec = (end.tv_nsec + 3000000) % 1000000000;
  int code;
  do {
    code = pthread_cond_timedwait(&page->condition, &page->robust, &end);
  } while (code == 0);
  CHECK(code == ETIMEDOUT && pthread_mutex_unlock(&page->robust) == 0);
  return unused;
}

static void with_a_robust_mutex(void) {
  pthread_t thread;
  page->stage = 0;
  CHECK(pthread_create(&thread, NULL, waits_with_robust, NULL) == 0);
  const pid_t other = start(3, plain);
  CHECK(pthread_join(thread, NULL) == 0);
  ends_well(other);
}

static void all_parts(void) {
  in_thread(holds);
  owner_is_killed();
  owner_ends();
  with_a_robust_mutex();
}

int main(int count, char** words) {
  alarm(30);
  if (count == 3) {
    file = atoi(words[2]);
    map_page();
    in_thread(parts[atoi(words[1])]);
    return 0;
  }
  make_page();
  CHECK(pthread_mutex_lock(&page->recursive) == 0 && pthread_mutex_lock(&page->checking) == 0);
  CHECK(pthread_mutex_lock(&page->robust) == 0);
  in_thread(may_not);
  main_gives_back();
  CHECK(pthread_mutex_lock(&page->inheriting) == 0);
  CHECK(pthread_mutex_unlock(&page->inheriting) == 0);
  with_a_private_mutex();
  for (plain = 0; plain < 2; ++plain) all_parts();
  in_thread(ends_with_it);
  in_thread(does_not_repair);
  puts("all parts hold");
  return 0;
}
