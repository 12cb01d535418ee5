// SPDX-License-Identifier: BSD-3-Clause
// Calls that come from a program in Python, by its own lines: of such a call the place is the
// instruction of the interpreter, of which source_of() (source_lines.hpp) knows function and line.
#pragma once

#include <optional>

#include "sinew/base/source_lines.hpp"

namespace sinew::base {

/// `caller`: an address within the call. Where that is in a module in C for Python, the place of
/// the innermost call in Python of this thread; else `caller`. Some 10 ns, but for the first call
/// from each place; no lock of the interpreter is needed. Any thread.
[[nodiscard]] const void* python_site(const void* caller) noexcept;
/// Of what python_site() has given; nothing of other addresses. Cold.
[[nodiscard]] std::optional<source_place> python_source_of(const void* site);

}  // namespace sinew::base
