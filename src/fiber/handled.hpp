// The exceptions that the running code is handling. The language's run-time library keeps them per
// thread; here they are each fiber's own, so that a fiber may wait inside a handler.
#pragma once

#include <cxxabi.h>

namespace sinew::fiber {

/// What abi::__cxa_get_globals() points to (Itanium C++ ABI, exception handling, 2.2.2).
struct handled {
  void* caught = nullptr;     ///< innermost first
  unsigned int uncaught = 0;  ///< thrown, not caught yet

  /// The calling thread's.
  [[nodiscard]] static handled* of_thread() noexcept {
    return reinterpret_cast<handled*>(abi::__cxa_get_globals());
  }
};

}  // namespace sinew::fiber
