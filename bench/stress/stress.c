// SPDX-License-Identifier: BSD-3-Clause
// Threads that wait for each other all the time, in plain POSIX: `sinew bench stress` runs it with
// the system's threads and, the same file, with `sinew run --threads-as-fibers`.
//
// mutex: all threads add to one counter under one mutex, and work a little outside.
// condition: they pass a token round, each waiting on a condition of its own.
// queue: half of them put numbers into a queue of 16 places, half take them out.
// A thread counts what it has done; the time begins when all are there.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { places = 16 };

struct party {
  pthread_cond_t turn;
  long done;
  int number;
};

static int threads, budget_ms = 100;
static struct party* all;
static pthread_barrier_t begin;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, drained = PTHREAD_COND_INITIALIZER;
static volatile int over;
static int token, used;
static long counter;

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* adds(void* argument) {
  struct party* const me = argument;
  pthread_barrier_wait(&begin);
  while (!over) {
    pthread_mutex_lock(&mutex);
    ++counter;
    pthread_mutex_unlock(&mutex);
    for (volatile int i = 0; i < 20; ++i) continue;
    ++me->done;
  }
  return NULL;
}

static void* passes(void* argument) {
  struct party* const me = argument;
  pthread_barrier_wait(&begin);
  pthread_mutex_lock(&mutex);
  while (!over) {
    if (token != me->number) {
      pthread_cond_wait(&me->turn, &mutex);
      continue;
    }
    token = (token + 1) % threads;
    ++me->done;
    pthread_cond_signal(&all[token].turn);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void* queues(void* argument) {
  struct party* const me = argument;
  const int puts = me->number % 2 == 0;
  pthread_barrier_wait(&begin);
  pthread_mutex_lock(&mutex);
  while (!over) {
    if (used == (puts ? places : 0)) {
      pthread_cond_wait(puts ? &drained : &filled, &mutex);
      continue;
    }
    used += puts ? 1 : -1;
    ++me->done;
    pthread_cond_signal(puts ? &filled : &drained);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void end_all(void) {
  pthread_mutex_lock(&mutex);
  over = 1;
  for (int i = 0; i < threads; ++i) pthread_cond_broadcast(&all[i].turn);
  pthread_cond_broadcast(&filled);
  pthread_cond_broadcast(&drained);
  pthread_mutex_unlock(&mutex);
}

static void measure(const char* name, void* (*entry)(void*)) {
  pthread_t* const made = calloc((size_t)threads, sizeof *made);
  pthread_attr_t small;
  long done = 0;
  all = calloc((size_t)threads, sizeof *all);
  over = token = used = 0;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  pthread_barrier_init(&begin, NULL, (unsigned)threads + 1);
  for (int i = 0; i < threads; ++i) {
    all[i].number = i;
    pthread_cond_init(&all[i].turn, NULL);
    const int code = pthread_create(&made[i], &small, entry, &all[i]);
    if (code != 0) {
      fprintf(stderr, "stress: thread %d of %d: %s\n", i + 1, threads, strerror(code));
      exit(1);
    }
  }
  pthread_barrier_wait(&begin);
  const struct timespec length = {budget_ms / 1000, budget_ms % 1000 * 1000000L};
  const double from = now_s();
  nanosleep(&length, NULL);
  end_all();
  const double seconds = now_s() - from;
  for (int i = 0; i < threads; ++i) {
    pthread_join(made[i], NULL);
    done += all[i].done;
  }
  printf("@ %s rate 1/s threads=%d %.9g\n", name, threads, (double)done / seconds);
  fflush(stdout);
  pthread_barrier_destroy(&begin);
  free(all);
  free(made);
}

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    if (sscanf(words[i], "threads=%d", &threads) != 1 &&
        sscanf(words[i], "budget_ms=%d", &budget_ms) != 1) {
      fprintf(stderr, "stress: what is '%s'?\n", words[i]);
      return 2;
    }
  }
  if (threads < 2 || budget_ms < 1) {
    fprintf(stderr, "usage: stress threads=N budget_ms=N (from 2 threads on)\n");
    return 2;
  }
  measure("mutex", adds);
  measure("condition", passes);
  measure("queue", queues);
  return 0;
}
