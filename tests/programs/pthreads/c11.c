// SPDX-License-Identifier: BSD-3-Clause
// Threads, locks, conditions and storage by C11's names.
#include <errno.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

#include "check.h"

static mtx_t plain, again;
static cnd_t changed;
static tss_t key;
static once_flag once = ONCE_FLAG_INIT;
static int stage, once_count, destroyed;

static struct timespec in_ms(long ms) {
  struct timespec t;
  CHECK(timespec_get(&t, TIME_UTC) == TIME_UTC);
  t.tv_nsec += ms * 1000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

static void count_once(void) { ++once_count; }
static void destroy(void* value) { destroyed += *(int*)value; }

static int takes_turns(void* number) {
  static int one = 1;
  call_once(&once, count_once);
  CHECK(tss_get(key) == NULL && tss_set(key, &one) == thrd_success && tss_get(key) == &one);
  CHECK(mtx_lock(&plain) == thrd_success);
  while (stage != (int)(intptr_t)number) CHECK(cnd_wait(&changed, &plain) == thrd_success);
  ++stage;
  CHECK(cnd_broadcast(&changed) == thrd_success && mtx_unlock(&plain) == thrd_success);
  thrd_exit(40 + (int)(intptr_t)number);
}

static int finds_it_held(void* unused) {
  struct timespec soon = in_ms(20);
  (void)unused;
  CHECK(mtx_trylock(&again) == thrd_busy && mtx_timedlock(&again, &soon) == thrd_timedout);
  return 7;
}

static int is_alone(void* other) {
  return thrd_equal(*(thrd_t*)other, thrd_current()) ? 1 : 0;
}

static void turns(void) {
  thrd_t thread[4];
  for (intptr_t i = 0; i < 4; ++i) {
    CHECK(thrd_create(&thread[i], takes_turns, (void*)(3 - i)) == thrd_success);
  }
  for (int i = 0; i < 4; ++i) {
    int result = 0;
    CHECK(thrd_join(thread[i], &result) == thrd_success && result == 43 - i);
  }
  CHECK(stage == 4 && once_count == 1 && destroyed == 4);
}

static void locks(void) {
  thrd_t thread;
  int result = 0;
  CHECK(mtx_lock(&again) == thrd_success && mtx_trylock(&again) == thrd_success);
  CHECK(thrd_create(&thread, finds_it_held, NULL) == thrd_success);
  CHECK(thrd_join(thread, &result) == thrd_success && result == 7);
  CHECK(mtx_unlock(&again) == thrd_success && mtx_unlock(&again) == thrd_success);
  struct timespec soon = in_ms(20);
  CHECK(mtx_lock(&plain) == thrd_success);
  CHECK(cnd_timedwait(&changed, &plain, &soon) == thrd_timedout);
  CHECK(cnd_signal(&changed) == thrd_success && mtx_unlock(&plain) == thrd_success);
}

static void endings(void) {
  const struct timespec length = {0, 1000000};
  thrd_t self = thrd_current(), thread;
  int result = 1;
  CHECK(thrd_create(&thread, is_alone, &self) == thrd_success);
  CHECK(thrd_join(thread, &result) == thrd_success && result == 0);
  CHECK(thrd_create(&thread, is_alone, &self) == thrd_success);
  CHECK(thrd_detach(thread) == thrd_success);
  thrd_yield();
  CHECK(thrd_sleep(&length, NULL) == 0);
}

int main(void) {
  CHECK(mtx_init(&plain, mtx_plain) == thrd_success);
  CHECK(mtx_init(&again, mtx_timed | mtx_recursive) == thrd_success);
  CHECK(cnd_init(&changed) == thrd_success && tss_create(&key, destroy) == thrd_success);
  turns();
  locks();
  endings();
  tss_delete(key);
  cnd_destroy(&changed);
  mtx_destroy(&again);
  mtx_destroy(&plain);
  puts("all parts hold");
  return 0;
}
