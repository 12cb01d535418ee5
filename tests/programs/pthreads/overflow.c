// SPDX-License-Identifier: BSD-3-Clause
// A thread that needs more stack than it has.
#include <pthread.h>
#include <stddef.h>

#include "check.h"

static size_t deep(size_t levels) {
  volatile char page[4096];
  page[0] = (char)levels;
  return levels == 0 ? (size_t)page[0] : deep(levels - 1) + (size_t)page[0];
}

static void* recurse(void* unused) {
  CHECK(deep(1 << 20) != 1);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, recurse, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  return 0;
}
