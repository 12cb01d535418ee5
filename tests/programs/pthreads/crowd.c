// SPDX-License-Identifier: BSD-3-Clause
// So many threads at a time, all of which wait: prints how many there were. Exit code 3 if there
// are fewer than wanted.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long inside;
static int may_go;

static void* wait_inside(void* none) {
  pthread_mutex_lock(&lock);
  ++inside;
  pthread_cond_broadcast(&changed);
  while (!may_go) {
    pthread_cond_wait(&changed, &lock);
  }
  pthread_mutex_unlock(&lock);
  return none;
}

int main(int count, char** words) {
  const long wanted = count > 1 ? atol(words[1]) : 1000;
  pthread_t* threads = malloc((size_t)wanted * sizeof *threads);
  long made = 0;
  while (threads != NULL && made < wanted &&
         pthread_create(&threads[made], NULL, wait_inside, NULL) == 0) {
    ++made;
  }
  pthread_mutex_lock(&lock);
  while (inside < made) {
    pthread_cond_wait(&changed, &lock);
  }
  may_go = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  printf("%ld fibers\n", made);
  fflush(stdout);
  for (long i = 0; i < made; ++i) {
    pthread_join(threads[i], NULL);
  }
  free(threads);
  return made == wanted ? 0 : 3;
}
