// SPDX-License-Identifier: BSD-3-Clause
// `--threads-as-fibers`: the library that is loaded in front of a program, and which programs it
// cannot serve.
#pragma once

#include <string>

namespace sinew::tool {

/// Empty, or why the threads of the program at this path cannot be fibers: "is statically linked".
/// Follows "#!" to the interpreter. What only the running program shows, the library refuses.
[[nodiscard]] std::string why_no_fibers(const std::string& program);

/// Of libsinew_threads.so in `folder`, put in front of what LD_PRELOAD holds already.
[[nodiscard]] std::string preload_value(const std::string& folder, const std::string& before);

/// Is it part of this tree?
[[nodiscard]] bool has_thread_library(const std::string& folder);

}  // namespace sinew::tool
