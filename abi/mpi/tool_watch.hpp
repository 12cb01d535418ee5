// SPDX-License-Identifier: BSD-3-Clause
// What the rest of the binding tells the tool interface. Nothing of it lies on a path that is not
// observed.
#pragma once

#include <cstddef>

namespace sinew::mpi {

struct window_object;

namespace tool {

enum class access : char { put, get, accumulate, compare };

/// Of a window that is observed (window_object::observed). Any thread. Cold.
void count_access(const window_object& w, access what, std::size_t bytes);

/// A call has failed: the event of errors. Any thread. Cold.
void tell_error(int code) noexcept;

}  // namespace tool
}  // namespace sinew::mpi
