// SPDX-License-Identifier: BSD-3-Clause
// The settings of a program's threads as fibers. In a header, so that `sinew info config` lists
// them without the library, which replaces functions of libc.
#pragma once

#include <cstdint>

#include "sinew/base/settings.hpp"

namespace sinew::threads {

inline setting<std::int64_t> stack_bytes(
    "threads", "stack", 0, "bytes",
    "stack of a thread that is a fiber, if the program asks for none (0: as the system's threads)",
    {.least = 0, .most = std::int64_t{2} << 30});

inline setting<bool> slices(
    "threads", "slices", true, "",
    "threads that compute, or block in the kernel, are interrupted so that others of their worker "
    "run");

}  // namespace sinew::threads
