// SPDX-License-Identifier: BSD-3-Clause
// The calls of a Python program, read from the interpreter's own records in another process:
// CPython 3.11 to 3.13.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "sinew/ask/stacks.hpp"

namespace sinew::tool {

/// Addresses in that process; 0: it has none.
struct python_symbols {
  std::uint64_t runtime = 0;  ///< _PyRuntime
  std::uint64_t version = 0;  ///< Py_Version
};

/// By thread, as the system numbers them. Threads that run meanwhile may be told wrongly, or in
/// part; nothing if the interpreter is another one. Cold.
[[nodiscard]] std::map<pid_t, stack> python_stacks(pid_t process, const python_symbols& at);

}  // namespace sinew::tool
