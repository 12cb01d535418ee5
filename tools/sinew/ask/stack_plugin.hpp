// SPDX-License-Identifier: BSD-3-Clause
// What `sinew` and the plugin that reads stacks (../stacks, linked with libdw) have agreed on.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace sinew::tool {

/// One call of a thread, innermost first. Texts last as long as the call to `take`; null where
/// something is not known, and `line` is 0 then.
struct seen_frame {
  pid_t thread;
  const char* function;
  const char* module;  ///< the file of the library or program
  const char* file;    ///< the source
  int line;
  bool is_exact;  ///< the thread is there, or was when a signal came, or the system has made it
};

/// What else was seen of the process: addresses in it, or 0.
struct seen_process {
  std::uint64_t python_runtime;  ///< _PyRuntime
  std::uint64_t python_version;  ///< Py_Version
};

struct stack_plugin {
  const char* build;  ///< build_id of whoever it belongs to
  /// Stops the threads of a process, a child of ours or of our user's, for some milliseconds, and
  /// tells all calls of each; of a thread no more once `take` says false. Null, or why it cannot.
  /// Throws nothing but what `take` throws.
  const char* (*read)(pid_t process, bool (*take)(void* to, const seen_frame& frame), void* to,
                      seen_process& seen);
};

inline constexpr const char* stack_plugin_symbol = "sinew_stack_plugin";

}  // namespace sinew::tool
