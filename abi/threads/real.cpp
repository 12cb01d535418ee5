// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/real.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "sinew/base/check.hpp"

namespace sinew::threads {
namespace {

template <class Function>
void find(Function*& found, const char* name) {
  found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  SINEW_ENSURE(found != nullptr);
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
  all.deallocate_tls =
      reinterpret_cast<void (*)(void*, bool)>(::dlsym(RTLD_DEFAULT, "_dl_deallocate_tls"));
  all.call_tls_dtors = reinterpret_cast<void (*)()>(::dlsym(RTLD_DEFAULT, "__call_tls_dtors"));
  all.tid = offset_of("_thread_db_pthread_tid");
  all.list = offset_of("_thread_db_pthread_list");
  all.cancel_flags = offset_of("_thread_db_pthread_cancelhandling");
  return all;
}

bool is_there(const char* symbol) { return ::dlsym(RTLD_DEFAULT, symbol) != nullptr; }

/// Is there the note with Go's number of the build?
bool has_go_note(const char* at, const char* end) noexcept {
  constexpr ElfW(Word) build_number = 4;
  constexpr std::string_view name("Go\0\0", 4);
  const auto up = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
  while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr)) + name.size()) {
    ElfW(Nhdr) head;
    std::memcpy(&head, at, sizeof head);
    if (head.n_type == build_number && std::string_view(at + sizeof head, head.n_namesz) == name) {
      return true;
    }
    const std::size_t whole = sizeof head + up(head.n_namesz) + up(head.n_descsz);
    if (whole > static_cast<std::size_t>(end - at)) {
      return false;
    }
    at += whole;
  }
  return false;
}

/// A program or library as it lies in memory, which begins with its header.
bool is_of_go(const char* begin) noexcept {
  ElfW(Ehdr) head;
  std::memcpy(&head, begin, sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) {
    return false;
  }
  const auto* const parts = reinterpret_cast<const ElfW(Phdr)*>(begin + head.e_phoff);
  const char* const zero = head.e_type == ET_EXEC ? nullptr : begin;
  return std::any_of(parts, parts + head.e_phnum, [zero](const ElfW(Phdr) & part) {
    const char* const at = zero + part.p_vaddr;
    return part.p_type == PT_NOTE && has_go_note(at, at + part.p_filesz);
  });
}

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
  if (in.allocate_tls == nullptr || in.deallocate_tls == nullptr || in.call_tls_dtors == nullptr ||
      in.tid == 0 || in.list == 0 || in.cancel_flags == 0 || !is_there("__resp")) {
    return "this C library does not show where it keeps a thread's data";
  }
  for (const char* mark : {"__asan_init", "__tsan_init", "__msan_init", "__hwasan_init"}) {
    if (is_there(mark)) {
      return "the program is built with a sanitizer, which follows kernel threads only";
    }
  }
  return nullptr;
}

const char* why_not_from([[maybe_unused]] void* (*start)(void*)) {
#if __GLIBC_PREREQ(2, 35)
  using find_object = int(void* address, dl_find_object* found);
  static auto* const find =
      reinterpret_cast<find_object*>(::dlsym(RTLD_DEFAULT, "_dl_find_object"));
  static constinit std::atomic<const void*> known_good{nullptr};
  dl_find_object found{};
  if (find == nullptr || find(reinterpret_cast<void*>(start), &found) != 0 ||
      found.dlfo_map_start == known_good.load(std::memory_order_relaxed)) {
    return nullptr;
  }
  if (is_of_go(static_cast<const char*>(found.dlfo_map_start))) {
    return "Go's runtime makes the threads: it needs signal stacks of the kernel's threads";
  }
  known_good.store(found.dlfo_map_start, std::memory_order_relaxed);
#endif
  return nullptr;
}

}  // namespace sinew::threads
