// SPDX-License-Identifier: BSD-3-Clause
// Threads that compute, or wait in loops without any call, while others of the same worker must
// run: programs for which the system's preemption is taken for granted.
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { threads = 8 };

static volatile int flag, handled;
static volatile long progress[threads];
static __thread volatile long own;

// ---- One waits for another, in a loop that calls nothing.

static void* spins(void* unused) {
  while (!flag) continue;
  return unused;
}

static void* sets(void* unused) {
  flag = 1;
  return unused;
}

static void* sets_late(void* unused) {
  usleep(20000);
  flag = 1;
  return unused;
}

static void* yields(void* unused) {
  while (!flag) sched_yield();
  return unused;
}

static void* computes_then_sets(void* unused) {
  for (volatile long i = 0; i < 20000000; ++i) continue;
  flag = 1;
  return unused;
}

static FILE* file;

static void* holds_a_file(void* unused) {
  flockfile(file);
  flag = 1;
  for (volatile long i = 0; i < 100000000; ++i) continue;
  CHECK(fputs("first\n", file) >= 0);
  funlockfile(file);
  return unused;
}

static void* prints(void* unused) {
  while (!flag) usleep(1000);
  CHECK(fputs("second\n", file) >= 0);
  return unused;
}

static void pair(void* (*waits)(void*), void* (*other)(void*)) {
  pthread_t a, b;
  flag = 0;
  CHECK(pthread_create(&a, NULL, waits, NULL) == 0);
  CHECK(pthread_create(&b, NULL, other, NULL) == 0);
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(b, NULL) == 0);
}

static void main_spins(void) {
  pthread_t thread;
  flag = 0;
  CHECK(pthread_create(&thread, NULL, sets_late, NULL) == 0);
  while (!flag) continue;
  CHECK(pthread_join(thread, NULL) == 0);
}

// ---- All make progress, and what is a thread's own stays so.

static long least(void) {
  long all = progress[0];
  for (int i = 1; i < threads; ++i) all = progress[i] < all ? progress[i] : all;
  return all;
}

static double sum(void) {
  volatile double all = 0;
  for (int i = 1; i < 20000; ++i) all += 1.0 / i;
  return all;
}

static double expected[2];
static const int modes[2] = {FE_DOWNWARD, FE_UPWARD};

static void* goes_along(void* argument) {
  const long number = (long)argument;
  own = number;
  errno = (int)number;
  CHECK(fesetround(modes[number % 2]) == 0);
  while (least() < 20) {
    CHECK(sum() == expected[number % 2] && own == number && errno == number);
    CHECK(fegetround() == modes[number % 2]);
    progress[number] += 1;
  }
  return NULL;
}

static void* allocates(void* argument) {
  char* kept[50] = {NULL};
  const long number = (long)argument;
  while (least() < 20) {
    for (int i = 0; i < 10000; ++i) {
      char** slot = &kept[i % 50];
      if (*slot != NULL) CHECK((*slot)[0] == (char)number);
      free(*slot);
      CHECK((*slot = malloc(1 + (size_t)i % 3000)) != NULL);
      (*slot)[0] = (char)number;
    }
    progress[number] += 1;
  }
  for (int i = 0; i < 50; ++i) free(kept[i]);
  return NULL;
}

static void crowd(void* (*body)(void*)) {
  pthread_t thread[threads];
  for (int i = 0; i < threads; ++i) progress[i] = 0;
  for (long i = 0; i < threads; ++i) {
    CHECK(pthread_create(&thread[i], NULL, body, (void*)i) == 0);
  }
  for (int i = 0; i < threads; ++i) CHECK(pthread_join(thread[i], NULL) == 0);
}

// ---- A signal reaches a thread that spins.

static void handle(int number) { handled += number == SIGUSR1; }

static void* spins_until_signalled(void* unused) {
  flag = 1;
  while (!handled) continue;
  return unused;
}

static void signalled(void) {
  pthread_t thread;
  flag = 0;
  CHECK(signal(SIGUSR1, handle) != SIG_ERR);
  CHECK(pthread_create(&thread, NULL, spins_until_signalled, NULL) == 0);
  while (!flag) continue;
  CHECK(pthread_kill(thread, SIGUSR1) == 0 && pthread_join(thread, NULL) == 0 && handled == 1);
}

int main(void) {
  for (int i = 0; i < 2; ++i) {
    CHECK(fesetround(modes[i]) == 0);
    expected[i] = sum();
  }
  CHECK(fesetround(FE_TONEAREST) == 0 && expected[0] < expected[1]);
  pair(spins, sets);
  pair(spins, sets_late);
  pair(yields, computes_then_sets);
  CHECK((file = tmpfile()) != NULL);
  pair(prints, holds_a_file);
  main_spins();
  crowd(goes_along);
  crowd(allocates);
  signalled();
  puts("all parts hold");
  return 0;
}
