// SPDX-License-Identifier: BSD-3-Clause
// What sinew_last_error() tells.
#pragma once

#include <string_view>

namespace sinew::c_binding {

/// Keeps the sentence for sinew_last_error(); returns the code. Without a sentence: the code's own.
int fail(int code, std::string_view why) noexcept;
int fail(int code) noexcept;

}  // namespace sinew::c_binding
