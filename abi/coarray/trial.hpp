// SPDX-License-Identifier: BSD-3-Clause
// Finding out about a function of the program's by calling it where it can do no harm: in a child
// process that ends at once.
#pragma once

namespace sinew::coarray {

inline constexpr int died = -1;
inline constexpr int not_tried = -2;

/// What body(context) returns (0 to 127) in a copy of this process, `died` if it was ended instead,
/// by a signal or by exit(), `not_tried` if there can be no process. Nothing is printed. Cold.
[[nodiscard]] int in_child(int (*body)(void* context), void* context);

}  // namespace sinew::coarray
