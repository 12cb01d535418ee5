// SPDX-License-Identifier: BSD-3-Clause
// Lines for people, on stderr. Not for results: those go to stdout or to a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sinew/base/ids.hpp"

namespace sinew {

enum class log_level : std::uint8_t { error, warn, info, debug };

/// True if lines of this level are shown: SINEW_BASE_LOG, default `warn`. Any context. Warm.
[[nodiscard]] bool log_enabled(log_level level) noexcept;

/// One sentence in one line with one write(2), so lines of several ranks do not tear each other:
/// "sinew: warn:
/// ..." until the rank is known, then "sinew[rank 3 of 8, host]: warn: ...". Any thread; keeps
/// errno; not for signal handlers (it allocates). Cold.
void log_line(log_level level, std::string_view text);

/// From now on lines name the rank and the host. Once, early; before other threads log. Cold.
void set_log_identity(job_rank rank, int size);

/// "rank 3 of 8, host" or "" while unknown. The reference lives as long as the program.
[[nodiscard]] const std::string& log_identity() noexcept;

}  // namespace sinew

/// SINEW_LOG(warn, "text " + number): the text is built only if the level is shown.
#define SINEW_LOG(level, text)                                \
  (::sinew::log_enabled(::sinew::log_level::level)            \
       ? ::sinew::log_line(::sinew::log_level::level, (text)) \
       : void(0))
