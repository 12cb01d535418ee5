// SPDX-License-Identifier: BSD-3-Clause
// Which function and line of its source an address of this process is, as the compiler has written
// it for debuggers. By the plugin libsinew_stacks.so (tools/sinew/stacks), since it needs libdw.
#pragma once

#include <string>

namespace sinew::base {

/// Empty, and 0, where something is not known.
struct source_place {
  std::string function;
  std::string module;  ///< the file of the library or program
  std::string file;    ///< the source
  int line = 0;
};

/// Of the instruction that `address` is in. Without the plugin, function and module are what the
/// dynamic linker knows. Milliseconds, but what has been asked before is remembered. Any thread;
/// not in a signal handler. Cold.
[[nodiscard]] source_place source_of(const void* address);
/// "solve (solver.f90:210)", "solve (a.out)", "0x1234 of a.out".
[[nodiscard]] std::string text_of(const source_place& place, const void* address);

// --- the plugin's side ---

/// Texts last as long as the call to `take`; null where something is not known.
struct seen_source {
  const char* function;
  const char* module;
  const char* file;
  int line;
};
struct source_plugin {
  const char* build;  ///< build_id of whoever it belongs to
  /// Calls `take` at most once. One thread at a time. Throws what `take` throws.
  void (*find)(const void* address, void (*take)(void* to, const seen_source& seen), void* to);
};
inline constexpr const char* source_plugin_symbol = "sinew_source_plugin";

}  // namespace sinew::base
