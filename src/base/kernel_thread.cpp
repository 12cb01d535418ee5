// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/kernel_thread.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include "sinew/base/signals_blocked.hpp"

namespace sinew::base {

int start_kernel_thread(std::thread::native_handle_type& thread, void* (*run)(void*),
                        void* argument) {
  using create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  void* const past = ::dlsym(RTLD_DEFAULT, "sinew_kernel_thread");
  const signals_blocked quiet;
  return (past != nullptr ? reinterpret_cast<create>(past) : &::pthread_create)(&thread, nullptr,
                                                                                run, argument);
}

}  // namespace sinew::base
