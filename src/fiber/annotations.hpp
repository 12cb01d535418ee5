// SPDX-License-Identifier: BSD-3-Clause
// What sanitizers and valgrind want to be told about stacks and switches. Nothing, in a build
// without them: this header is the only place that knows which build it is.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(SINEW_ASAN)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(SINEW_TSAN)
#include <sanitizer/tsan_interface.h>
#elif __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

namespace sinew::fiber {

#if defined(SINEW_ASAN)

/// AddressSanitizer: which stack is in use, and each context's stack of fake frames.
struct annotations {
  static constexpr std::size_t least_stack = 128 * 1024;  ///< red zones, and its own runtime

  void* fake = nullptr;
  const void* low = nullptr;
  std::size_t bytes = 0;
  bool switching = false;

  static void mapped(void*, void*) noexcept {}
  /// Red zones that stayed would be taken for those of whatever is mapped there next.
  static void unmapping(void* at, std::size_t size) noexcept {
    ASAN_UNPOISON_MEMORY_REGION(at, size);
  }
  void born(void* stack_low, std::size_t stack_bytes) noexcept {
    // The last tenant left by no return: its red zones are still marked.
    ASAN_UNPOISON_MEMORY_REGION(stack_low, stack_bytes);
    low = stack_low;
    bytes = stack_bytes;
  }
  void native() noexcept {
    pthread_attr_t attributes;
    void* where = nullptr;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &where, &bytes);
    pthread_attr_destroy(&attributes);
    low = where;
  }
  void leaving(annotations& next, bool for_good) noexcept {
    next.switching = true;
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fake, next.low, next.bytes);
  }
  void arrived() noexcept {
    if (switching) {
      switching = false;
      __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
    }
  }
  void died() noexcept { fake = nullptr; }
};

#elif defined(SINEW_TSAN)

/// ThreadSanitizer: every context is a thread of its own, and a switch orders the two.
struct annotations {
  static constexpr std::size_t least_stack = 64 * 1024;

  void* context = nullptr;

  static void mapped(void*, void*) noexcept {}
  static void unmapping(void*, std::size_t) noexcept {}
  void born(void*, std::size_t) noexcept { context = __tsan_create_fiber(0); }
  void native() noexcept { context = __tsan_get_current_fiber(); }
  void leaving(annotations& next, bool) noexcept { __tsan_switch_to_fiber(next.context, 0); }
  void arrived() noexcept {}
  void died() noexcept { __tsan_destroy_fiber(context); }
};

#else

/// Valgrind is told where stacks lie, once for each (four instructions when it is not there).
struct annotations {
  static constexpr std::size_t least_stack = 0;

  static void unmapping(void*, std::size_t) noexcept {}
  static void mapped([[maybe_unused]] void* low, [[maybe_unused]] void* high) noexcept {
#if defined(VALGRIND_STACK_REGISTER)
    VALGRIND_STACK_REGISTER(low, high);
#endif
  }
  void born(void*, std::size_t) noexcept {}
  void native() noexcept {}
  void leaving(annotations&, bool) noexcept {}
  void arrived() noexcept {}
  void died() noexcept {}
};

#endif

}  // namespace sinew::fiber
