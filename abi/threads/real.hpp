// SPDX-License-Identifier: BSD-3-Clause
// glibc's own functions behind those that we replace, and what of its inside a thread's block
// needs. Found by name once, at start; what is missing is a reason to refuse.
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include <cstddef>

namespace sinew::threads {

/// glibc's functions of these names. Complete after the first call of real().
struct real_calls {
  decltype(::pthread_create)* create;
  decltype(::pthread_join)* join;
  decltype(::pthread_tryjoin_np)* tryjoin;
  decltype(::pthread_clockjoin_np)* clockjoin;
  decltype(::pthread_detach)* detach;
  decltype(::pthread_exit)* exit;
  decltype(::pthread_cancel)* cancel;
  decltype(::pthread_kill)* kill;
  decltype(::pthread_getcpuclockid)* getcpuclockid;
  decltype(::sigaction)* sigaction;
  decltype(::pthread_sigmask)* set_sigmask;
  decltype(::sigpending)* sigpending;
  decltype(::pthread_getattr_np)* getattr;
  decltype(::pthread_setname_np)* setname;
  decltype(::pthread_getname_np)* getname;
  decltype(::pthread_key_create)* key_create;
  decltype(::pthread_key_delete)* key_delete;
  decltype(::pthread_mutexattr_setprotocol)* setprotocol;
  decltype(::pthread_mutex_init)* mutex_init;
  decltype(::pthread_mutex_lock)* mutex_lock;
  decltype(::pthread_mutex_clocklock)* mutex_clocklock;
  decltype(::pthread_mutex_trylock)* mutex_trylock;
  decltype(::pthread_mutex_unlock)* mutex_unlock;
  decltype(::pthread_mutex_consistent)* mutex_consistent;
  decltype(::pthread_mutex_destroy)* mutex_destroy;
  decltype(::pthread_cond_init)* cond_init;
  decltype(::pthread_cond_destroy)* cond_destroy;
  decltype(::pthread_cond_wait)* cond_wait;
  decltype(::pthread_cond_clockwait)* cond_clockwait;
  decltype(::pthread_cond_signal)* cond_signal;
  decltype(::pthread_cond_broadcast)* cond_broadcast;
  decltype(::pthread_barrier_init)* barrier_init;
  decltype(::pthread_barrier_destroy)* barrier_destroy;
  decltype(::pthread_barrier_wait)* barrier_wait;
  decltype(::pthread_rwlock_init)* rwlock_init;
  decltype(::pthread_getschedparam)* getschedparam;
  decltype(::pthread_setschedparam)* setschedparam;
  decltype(::pthread_setschedprio)* setschedprio;
  decltype(::pthread_getaffinity_np)* getaffinity;
  decltype(::pthread_setaffinity_np)* setaffinity;
  decltype(::pthread_rwlock_tryrdlock)* rwlock_tryrdlock;
  decltype(::pthread_rwlock_trywrlock)* rwlock_trywrlock;
  decltype(::pthread_rwlock_unlock)* rwlock_unlock;
  decltype(::clock_gettime)* clock_gettime;
  decltype(::timer_create)* timer_create;
  decltype(::sem_trywait)* sem_trywait;
  decltype(::sem_post)* sem_post;
};

[[nodiscard]] const real_calls& real() noexcept;

/// Where glibc keeps what a thread's control block must hold; by the descriptors that it publishes
/// for debuggers, so no offset is guessed.
struct inside_glibc {
  void* (*allocate_tls)(void* mem);  ///< static and dynamic TLS, initialised; returns the block
  void (*deallocate_tls)(void* block, bool whole);
  void (*call_tls_dtors)();  ///< destructors of the caller's thread_local objects
  std::size_t tid;
  std::size_t list;
  std::size_t cancel_flags;
};

[[nodiscard]] const inside_glibc& inside() noexcept;

/// Null, or a sentence: why threads cannot be fibers in this process. Cold.
[[nodiscard]] const char* why_not();
/// The same for a thread that is to begin here. Warm.
[[nodiscard]] const char* why_not_from(void* (*start)(void*));

}  // namespace sinew::threads
