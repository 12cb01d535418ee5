#include "abi/threads/real.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <sys/auxv.h>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>

namespace sinew::threads {
namespace {

template <class Function>
void find(Function*& found, const char* name) {
  found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

real_calls find_calls() {
  real_calls all{};
  find(all.create, "pthread_create");
  find(all.join, "pthread_join");
  find(all.tryjoin, "pthread_tryjoin_np");
  find(all.clockjoin, "pthread_clockjoin_np");
  find(all.detach, "pthread_detach");
  find(all.exit, "pthread_exit");
  find(all.cancel, "pthread_cancel");
  find(all.kill, "pthread_kill");
  find(all.getcpuclockid, "pthread_getcpuclockid");
  find(all.sigaction, "sigaction");
  find(all.set_sigmask, "pthread_sigmask");
  find(all.sigpending, "sigpending");
  find(all.getattr, "pthread_getattr_np");
  find(all.setname, "pthread_setname_np");
  find(all.getname, "pthread_getname_np");
  find(all.key_create, "pthread_key_create");
  find(all.key_delete, "pthread_key_delete");
  find(all.setprotocol, "pthread_mutexattr_setprotocol");
  find(all.mutex_init, "pthread_mutex_init");
  find(all.mutex_lock, "pthread_mutex_lock");
  find(all.mutex_clocklock, "pthread_mutex_clocklock");
  find(all.mutex_trylock, "pthread_mutex_trylock");
  find(all.mutex_unlock, "pthread_mutex_unlock");
  find(all.mutex_consistent, "pthread_mutex_consistent");
  find(all.mutex_destroy, "pthread_mutex_destroy");
  find(all.cond_init, "pthread_cond_init");
  find(all.cond_destroy, "pthread_cond_destroy");
  find(all.cond_wait, "pthread_cond_wait");
  find(all.cond_clockwait, "pthread_cond_clockwait");
  find(all.cond_signal, "pthread_cond_signal");
  find(all.cond_broadcast, "pthread_cond_broadcast");
  find(all.barrier_init, "pthread_barrier_init");
  find(all.barrier_destroy, "pthread_barrier_destroy");
  find(all.barrier_wait, "pthread_barrier_wait");
  find(all.getschedparam, "pthread_getschedparam");
  find(all.setschedparam, "pthread_setschedparam");
  find(all.setschedprio, "pthread_setschedprio");
  find(all.getaffinity, "pthread_getaffinity_np");
  find(all.setaffinity, "pthread_setaffinity_np");
  find(all.rwlock_init, "pthread_rwlock_init");
  find(all.rwlock_tryrdlock, "pthread_rwlock_tryrdlock");
  find(all.rwlock_trywrlock, "pthread_rwlock_trywrlock");
  find(all.rwlock_unlock, "pthread_rwlock_unlock");
  find(all.clock_gettime, "clock_gettime");
  find(all.timer_create, "timer_create");
  find(all.sem_trywait, "sem_trywait");
  find(all.sem_post, "sem_post");
  return all;
}

/// A field's offset by its descriptor {bits of an element, elements, offset}; 0 if there is none.
std::size_t offset_of(const char* descriptor) {
  const auto* words = static_cast<const std::uint32_t*>(::dlsym(RTLD_DEFAULT, descriptor));
  return words == nullptr ? 0 : words[2];
}

inside_glibc find_inside() {
  inside_glibc all{};
  all.allocate_tls = reinterpret_cast<void* (*)(void*)>(::dlsym(RTLD_DEFAULT, "_dl_allocate_tls"));
  all.call_tls_dtors = reinterpret_cast<void (*)()>(::dlsym(RTLD_DEFAULT, "__call_tls_dtors"));
  all.tid = offset_of("_thread_db_pthread_tid");
  all.list = offset_of("_thread_db_pthread_list");
  all.cancel_flags = offset_of("_thread_db_pthread_cancelhandling");
  return all;
}

bool is_there(const char* symbol) { return ::dlsym(RTLD_DEFAULT, symbol) != nullptr; }

}  // namespace

const real_calls& real() noexcept {
  static const real_calls all = find_calls();
  return all;
}

const inside_glibc& inside() noexcept {
  static const inside_glibc all = find_inside();
  return all;
}

const char* why_not() {
  constexpr unsigned long may_write_fs_base = 2;  // HWCAP2_FSGSBASE
  if ((::getauxval(AT_HWCAP2) & may_write_fs_base) == 0) {
    return "the processor or the kernel does not let programs write the FS base (Linux 5.9 on a "
           "processor with FSGSBASE does)";
  }
  if (std::strtod(::gnu_get_libc_version(), nullptr) < 2.34) {
    return "the C library is older than glibc 2.34";
  }
  const inside_glibc& in = inside();
  if (in.allocate_tls == nullptr || in.call_tls_dtors == nullptr || in.tid == 0 || in.list == 0 ||
      in.cancel_flags == 0 || !is_there("__resp")) {
    return "this C library does not show where it keeps a thread's data";
  }
  for (const char* mark : {"__asan_init", "__tsan_init", "__msan_init", "__hwasan_init"}) {
    if (is_there(mark)) {
      return "the program is built with a sanitizer, which follows kernel threads only";
    }
  }
  return nullptr;
}

}  // namespace sinew::threads
