// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/resolver.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <resolv.h>

#include <cstddef>
#include <cstring>

namespace sinew::threads {
namespace {

thread_local struct __res_state state;

}  // namespace

void open_resolver() noexcept {
  // At the same distance from the thread pointer in every thread.
  static const std::ptrdiff_t distance = static_cast<char*>(::dlsym(RTLD_DEFAULT, "__resp")) -
                                         reinterpret_cast<char*>(::pthread_self());
  struct __res_state* const own = &state;
  std::memcpy(reinterpret_cast<char*>(::pthread_self()) + distance, &own, sizeof own);
}

}  // namespace sinew::threads
