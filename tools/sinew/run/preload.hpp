// SPDX-License-Identifier: BSD-3-Clause
// The libraries that are loaded in front of a program, of `--threads-as-fibers` and of simulated
// jobs, and which programs they cannot serve.
#pragma once

#include <string>
#include <string_view>

namespace sinew::tool {

/// Empty, or why the threads of the program at this path cannot be fibers: "is statically linked".
/// Follows "#!" to the interpreter. What only the running program shows, the library refuses.
[[nodiscard]] std::string why_no_fibers(const std::string& program);

inline constexpr std::string_view thread_library = "libsinew_threads.so.0";
inline constexpr std::string_view clock_library = "libsinew_clock.so.0";

/// Of this library in `folder`, put in front of what LD_PRELOAD holds already.
[[nodiscard]] std::string preload_value(std::string_view library, const std::string& folder,
                                        const std::string& before);

/// Is it part of this tree?
[[nodiscard]] bool has_preloaded(std::string_view library, const std::string& folder);

/// Can the program at this path see virtual time? Not with a sanitizer, which wants to be the first
/// library. (One that is statically linked ignores what is put in front of it, and does not mind.)
[[nodiscard]] bool takes_clock(const std::string& program);

}  // namespace sinew::tool
