// SPDX-License-Identifier: BSD-3-Clause
// <threads.h>: the same threads under C11's names. glibc's versions call its own functions
// directly, so they must be replaced too.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <new>

namespace {

struct beginning {
  thrd_start_t start;
  void* argument;
};

void* begin(void* from) {
  const beginning what = *static_cast<beginning*>(from);
  delete static_cast<beginning*>(from);
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(what.start(what.argument)));
}

int c11(int code) noexcept {
  switch (code) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ETIMEDOUT:
      return thrd_timedout;
    case ENOMEM:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

pthread_mutex_t* pthread(mtx_t* m) noexcept { return reinterpret_cast<pthread_mutex_t*>(m); }
pthread_cond_t* pthread(cnd_t* c) noexcept { return reinterpret_cast<pthread_cond_t*>(c); }

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t start, void* argument) {
  auto* what = new (std::nothrow) beginning{start, argument};
  if (what == nullptr) {
    return thrd_nomem;
  }
  const int code = pthread_create(thread, nullptr, begin, what);
  if (code != 0) {
    delete what;
  }
  return code == EAGAIN ? thrd_nomem : c11(code);
}

int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  const int code = pthread_join(thread, &value);
  if (code == 0 && result != nullptr) {
    *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  }
  return c11(code);
}

int thrd_detach(thrd_t thread) { return c11(pthread_detach(thread)); }

void thrd_exit(int result) {
  pthread_exit(reinterpret_cast<void*>(static_cast<std::intptr_t>(result)));
}

void thrd_yield() { sched_yield(); }

int thrd_sleep(const timespec* length, timespec* left) {
  const int code = clock_nanosleep(CLOCK_REALTIME, 0, length, left);
  return code == 0 ? 0 : code == EINTR ? -1 : -2;
}

int mtx_init(mtx_t* m, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(
      &attributes, (type & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  return c11(pthread_mutex_init(pthread(m), &attributes));
}

void mtx_destroy(mtx_t* m) { pthread_mutex_destroy(pthread(m)); }
int mtx_lock(mtx_t* m) { return c11(pthread_mutex_lock(pthread(m))); }
int mtx_trylock(mtx_t* m) { return c11(pthread_mutex_trylock(pthread(m))); }
int mtx_unlock(mtx_t* m) { return c11(pthread_mutex_unlock(pthread(m))); }
int mtx_timedlock(mtx_t* m, const timespec* until) {
  return c11(pthread_mutex_timedlock(pthread(m), until));
}

int cnd_init(cnd_t* c) { return c11(pthread_cond_init(pthread(c), nullptr)); }
void cnd_destroy(cnd_t* c) { pthread_cond_destroy(pthread(c)); }
int cnd_signal(cnd_t* c) { return c11(pthread_cond_signal(pthread(c))); }
int cnd_broadcast(cnd_t* c) { return c11(pthread_cond_broadcast(pthread(c))); }
int cnd_wait(cnd_t* c, mtx_t* m) { return c11(pthread_cond_wait(pthread(c), pthread(m))); }
int cnd_timedwait(cnd_t* c, mtx_t* m, const timespec* until) {
  return c11(pthread_cond_timedwait(pthread(c), pthread(m), until));
}

int tss_create(tss_t* key, tss_dtor_t destroy) { return c11(pthread_key_create(key, destroy)); }
void tss_delete(tss_t key) { pthread_key_delete(key); }

void call_once(once_flag* once, void (*routine)()) {
  pthread_once(reinterpret_cast<pthread_once_t*>(once), routine);
}

}  // extern "C"
