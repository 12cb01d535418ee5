// SPDX-License-Identifier: BSD-3-Clause
// Kernel threads that a program makes past pthreads. Without thread-local storage of their own they
// would have their creator's: a fiber's, and so the scheduler would take them for that fiber. They
// get a block each, in which they are no threads of ours, and wait as kernel threads do.
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <mutex>

#include "abi/threads/block.hpp"
#include "abi/threads/record.hpp"
#include "abi/threads/waiting.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::threads {
namespace {

constexpr int given_by_program = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;

/// Blocks whose end the kernel tells.
struct unused_blocks {
  fiber::spin_lock lock;
  record* first = nullptr;
};
constinit unused_blocks given;

bool has_ended(record& r) noexcept {
  return std::atomic_ref<pid_t>(*number_in(r)).load(std::memory_order_acquire) == 0;
}

/// The first block whose thread has ended, or null; it is taken out of the list.
record* take_ended() noexcept {
  const std::lock_guard hold(given.lock);
  for (record** at = &given.first; *at != nullptr; at = &(*at)->next_free) {
    if (record* const r = *at; has_ended(*r)) {
      *at = r->next_free;
      return r;
    }
  }
  return nullptr;
}

void keep(record& r) noexcept {
  const std::lock_guard hold(given.lock);
  r.next_free = given.first;
  given.first = &r;
}

struct clone_words {
  int (*entry)(void*);
  void* stack;
  int flags;
  void* argument;
  pid_t* parent_number;
  void* storage;
  pid_t* child_number;
};

int real_clone(const clone_words& w) noexcept {
  static auto* const call = real_call<int(int (*)(void*), void*, int, void*, ...)>("clone");
  return call(w.entry, w.stack, w.flags, w.argument, w.parent_number, w.storage, w.child_number);
}

int clone_with_storage(clone_words w) noexcept {
  while (record* const r = take_ended()) {
    free_kernel_block(*r);
  }
  record* const r = make_kernel_block();
  if (r == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  const bool told = (w.flags & given_by_program) == 0;
  w.flags |= CLONE_SETTLS;
  w.storage = reinterpret_cast<void*>(thread_of(*r));
  if (told) {
    w.flags |= given_by_program;
    w.child_number = number_in(*r);
    *w.child_number = 1;  // until the kernel has written it
  }
  const int number = real_clone(w);
  if (number < 0) {
    free_kernel_block(*r);
  } else if (told) {
    keep(*r);
  } else {
    *number_in(*r) = number;  // and nobody says when it ends
  }
  return number;
}

}  // namespace
}  // namespace sinew::threads

extern "C" int clone(int (*entry)(void*), void* stack, int flags, void* argument, ...) noexcept {
  va_list rest;
  va_start(rest, argument);
  auto* const parent_number = va_arg(rest, pid_t*);
  auto* const storage = va_arg(rest, void*);
  auto* const child_number = va_arg(rest, pid_t*);
  va_end(rest);
  const sinew::threads::clone_words words{entry,         stack,   flags,       argument,
                                          parent_number, storage, child_number};
  const bool needs_storage = (flags & CLONE_THREAD) != 0 && (flags & CLONE_SETTLS) == 0;
  return needs_storage ? sinew::threads::clone_with_storage(words)
                       : sinew::threads::real_clone(words);
}
