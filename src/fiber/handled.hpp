// SPDX-License-Identifier: BSD-3-Clause
// The exceptions that the running code is handling. The language's run-time library keeps them per
// thread; here they are each fiber's own, so that a fiber may wait inside a handler. At each switch
// the thread has none: a fiber that leaves while it has some takes them along.
#pragma once

#include <cxxabi.h>

#include <cstdint>

namespace sinew::fiber {

/// What abi::__cxa_get_globals() points to (Itanium C++ ABI, exception handling, 2.2.2).
struct handled {
  void* caught = nullptr;     ///< innermost first
  unsigned int uncaught = 0;  ///< thrown, not caught yet

  [[nodiscard]] bool any() const noexcept {
    return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) != 0;
  }

  /// The calling thread's.
  [[nodiscard]] static handled* of_thread() noexcept {
    return reinterpret_cast<handled*>(abi::__cxa_get_globals());
  }
};

}  // namespace sinew::fiber
