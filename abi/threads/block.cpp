// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/block.hpp"

#include <dlfcn.h>
#include <link.h>
#include <locale.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "abi/threads/keys.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/resolver.hpp"
#include "abi/threads/signals.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::threads {

constinit thread_local record mine;

namespace {

char* block_of(const record& r) noexcept { return reinterpret_cast<char*>(thread_of(r)); }

// The head of the control block, whose places compilers know: itself, dtv, itself, then what all
// threads of a process have in common: multiple_threads, sysinfo, stack guard, pointer guard.
constexpr std::size_t self_offset = 16;
constexpr std::size_t common_offset = 24;
constexpr std::size_t common_bytes = 32;

/// Blocks without a thread, last in first out; malloc keeps what it has cached for them.
struct block_list {
  fiber::spin_lock lock;
  record* first = nullptr;

  void push(record& r) noexcept {
    const std::lock_guard hold(lock);
    r.next_free = first;
    first = &r;
  }
  record* pop() noexcept {
    const std::lock_guard hold(lock);
    record* const r = first;
    first = r == nullptr ? nullptr : r->next_free;
    return r;
  }
};
constinit block_list spare;
constinit block_list leaving;  ///< their fibers are on their way out

/// Restricted sequences are registered for the kernel thread's own block; glibc asks this field.
void disown_rseq(char* block) noexcept {
  static const auto* const offset =
      static_cast<const std::ptrdiff_t*>(::dlsym(RTLD_DEFAULT, "__rseq_offset"));
  if (offset != nullptr) {
    constexpr std::size_t cpu_id = 4;
    constexpr std::uint32_t uninitialized = UINT32_MAX;
    std::memcpy(block + *offset + cpu_id, &uninitialized, sizeof uninitialized);
  }
}

record* make_block() noexcept {
  auto* const block = static_cast<char*>(inside().allocate_tls(nullptr));
  if (block == nullptr) {
    return nullptr;
  }
  const char* const here = reinterpret_cast<char*>(::pthread_self());
  const auto own_address = reinterpret_cast<std::uintptr_t>(block);
  std::memcpy(block, &own_address, sizeof own_address);
  std::memcpy(block + self_offset, &own_address, sizeof own_address);
  std::memcpy(block + common_offset, here + common_offset, common_bytes);
  // In none of glibc's lists of threads, but in one of its own: fork() takes it out of a list.
  char* const node = block + inside().list;
  const auto node_address = reinterpret_cast<std::uintptr_t>(node);
  std::memcpy(node, &node_address, sizeof node_address);
  std::memcpy(node + sizeof node_address, &node_address, sizeof node_address);
  disown_rseq(block);
  record* const r = record_of(reinterpret_cast<pthread_t>(block));
  // In fresh storage at the right distance nobody has written to it.
  SINEW_ENSURE(!r->ours && !r->used_before && r->fiber.load() == nullptr);
  return r;
}

void clean(record& r) noexcept {
  SINEW_EXPECT(!r.main && r.robust_held == nullptr);
  r.ours = true;
  r.fiber.store(nullptr, std::memory_order_relaxed);
  r.start = nullptr;
  r.argument = r.result = nullptr;
  r.left_by_exit = false;
  r.stack_top = nullptr;
  r.name[0] = '\0';
  r.cancel_type = PTHREAD_CANCEL_DEFERRED;
  r.cancelled.store(false, std::memory_order_relaxed);
  r.pending.store(0, std::memory_order_relaxed);
  r.awaited_signals.store(0, std::memory_order_relaxed);
  r.handlers = 0;
  r.files_held = 0;
  r.robust_held = nullptr;
  r.policy = r.priority = 0;
  r.used_ns.store(0, std::memory_order_relaxed);
  r.runs_since_ns.store(-1, std::memory_order_relaxed);
  r.away = r.stays = false;
  r.life.store(running, std::memory_order_relaxed);
  r.joined.store(false, std::memory_order_relaxed);
  r.poked.store(0, std::memory_order_relaxed);
  std::memset(block_of(r) + inside().cancel_flags, 0, sizeof(int));
  // glibc takes a thread without number for one that has ended, and forgets a cancellation. Until
  // the thread runs and sets its own, it has its creator's.
  std::memcpy(block_of(r) + inside().tid, reinterpret_cast<char*>(::pthread_self()) + inside().tid,
              sizeof(int));
}

/// The library that holds an address, by where it begins.
const void* library_of(const void* address) noexcept {
  Dl_info found{};
  return ::dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

/// A library's thread_local objects as they were at first.
int renew(dl_phdr_info* library, std::size_t, void*) noexcept {
  // The C library's stay (malloc's memory hangs on them, and it starts threads without renewing
  // anything else), and those of the scheduler and our own.
  static const void* const kept[] = {library_of(reinterpret_cast<void*>(inside().call_tls_dtors)),
                                     library_of(reinterpret_cast<void*>(&fiber::self)),
                                     library_of(reinterpret_cast<void*>(&renew))};
  const auto* const first_byte = reinterpret_cast<const void*>(library->dlpi_addr);
  auto* const data = static_cast<char*>(library->dlpi_tls_data);
  if (data == nullptr || first_byte == kept[0] || first_byte == kept[1] || first_byte == kept[2]) {
    return 0;
  }
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library->dlpi_phdr[i];
    if (part.p_type == PT_TLS) {
      std::memcpy(data, reinterpret_cast<const char*>(library->dlpi_addr + part.p_vaddr),
                  part.p_filesz);
      std::memset(data + part.p_filesz, 0, part.p_memsz - part.p_filesz);
    }
  }
  return 0;
}

}  // namespace

record* get_block() noexcept {
  record* r = leaving.pop();
  SINEW_ASSERT(r == nullptr || r->fiber.load() != nullptr);
  if (r != nullptr && !fiber::ended(*r->fiber.load())) {
    leaving.push(*r);
    r = nullptr;
  }
  if (r != nullptr) {
    fiber::join(*r->fiber.load());
  } else {
    r = spare.pop();
  }
  if (r == nullptr) {
    r = make_block();
  }
  if (r != nullptr) {
    clean(*r);
  }
  return r;
}

void put_block(record& r) noexcept {
  SINEW_EXPECT(&r != &mine && r.life.load(std::memory_order_relaxed) == gone);
  if (fiber::fiber* const f = r.fiber.load()) {
    fiber::join(*f);
  }
  spare.push(r);
}

void leave_block(record& r) noexcept {
  SINEW_EXPECT(&r == &mine && r.life.load(std::memory_order_relaxed) == gone);
  leaving.push(r);
}

record* make_kernel_block() noexcept { return make_block(); }

void free_kernel_block(record& r) noexcept {
  SINEW_EXPECT(!r.ours);
  inside().deallocate_tls(block_of(r), true);
}

pid_t* number_in(record& r) noexcept {
  return reinterpret_cast<pid_t*>(block_of(r) + inside().tid);
}

void open_block() noexcept {
  SINEW_EXPECT(mine.ours && mine.fiber.load() == nullptr && mine.id >= first_fiber_id);
  // The C library tells threads apart by this, in locks of its own that a thread may take twice. No
  // number of a kernel thread will do: those serve many threads.
  std::memcpy(block_of(mine) + inside().tid, &mine.id, sizeof mine.id);
  if (mine.used_before) {
    ::dl_iterate_phdr(renew, nullptr);
  }
  mine.used_before = true;
  mine.fiber.store(fiber::self());
  if (mine.name[0] != '\0') {
    fiber::rename(*fiber::self(), mine.name);  // given before it began
  }
  ::uselocale(LC_GLOBAL_LOCALE);  // also sets the tables that isalpha() and its like look into
  open_resolver();
  errno = 0;
}

void close_block() {
  inside().call_tls_dtors();
  destroy_key_values();
}

}  // namespace sinew::threads
