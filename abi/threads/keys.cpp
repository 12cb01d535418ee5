// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/keys.hpp"

#include <limits.h>
#include <pthread.h>
#include <threads.h>

#include <array>
#include <atomic>

#include "abi/threads/real.hpp"
#include "sinew/base/check.hpp"

namespace sinew::threads {
namespace {

/// By key. Written (release) after glibc gave the key out, before anybody can have a value.
constinit std::array<std::atomic<void (*)(void*)>, PTHREAD_KEYS_MAX> destructors{};
/// Above all keys that were ever given out. Raised (release) before the key is known to anybody.
constinit std::atomic<unsigned> keys_end{0};

}  // namespace

void destroy_key_values() {
  bool again = true;
  for (int round = 0; again && round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    again = false;
    for (pthread_key_t key = 0; key < keys_end.load(std::memory_order_acquire); ++key) {
      void* const value = ::pthread_getspecific(key);
      if (value == nullptr) {
        continue;
      }
      ::pthread_setspecific(key, nullptr);
      if (void (*destroy)(void*) = destructors[key].load(std::memory_order_acquire)) {
        destroy(value);
        again = true;
      }
    }
  }
}

}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) noexcept {
  const int code = real().key_create(key, destroy);
  if (code == 0) {
    SINEW_ASSERT(*key < destructors.size());
    destructors[*key].store(destroy, std::memory_order_release);
    unsigned end = keys_end.load(std::memory_order_relaxed);
    while (end <= *key && !keys_end.compare_exchange_weak(end, *key + 1)) {
    }
  }
  return code;
}

int pthread_key_delete(pthread_key_t key) noexcept {
  if (key < destructors.size()) {
    destructors[key].store(nullptr, std::memory_order_release);
  }
  return real().key_delete(key);
}

}  // extern "C"
