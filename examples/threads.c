// SPDX-License-Identifier: BSD-3-Clause
/* Threads that hand a number on, each to the next: 2,000 of them, of which one is awake at a time.
 *   cc -O2 -pthread examples/threads.c -o threads
 *   build/bin/sinew run --threads-as-fibers ./threads */
#include <pthread.h>
#include <stdio.h>

enum { threads = 2000, rounds = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_has_come[threads];
static int number;  /* it is the turn of the thread number % threads */

static void* hand_on(void* which) {
  const int self = (int)((pthread_cond_t*)which - turn_has_come);
  pthread_mutex_lock(&lock);
  for (int round = 0; round < rounds; ++round) {
    while (number % threads != self) {
      pthread_cond_wait(&turn_has_come[self], &lock);
    }
    ++number;
    pthread_cond_signal(&turn_has_come[number % threads]);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  static pthread_t all[threads];
  for (int i = 0; i < threads; ++i) {
    pthread_cond_init(&turn_has_come[i], NULL);
  }
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&all[i], NULL, hand_on, &turn_has_come[i]) != 0) {
      fprintf(stderr, "only %d threads can be made here\n", i);
      return 1;
    }
  }
  for (int i = 0; i < threads; ++i) {
    pthread_join(all[i], NULL);
  }
  printf("%d threads have handed on %d times\n", threads, number);
  return 0;
}
