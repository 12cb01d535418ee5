// The settings of a program's threads as fibers. In a header, so that `sinew info config` lists
// them without the library, which replaces functions of libc.
#pragma once

#include <cstdint>

#include "sinew/base/settings.hpp"

namespace sinew::threads {

inline setting<std::int64_t> stack_bytes(
    "threads", "stack", 256 * 1024, "bytes",
    "stack of a thread that is a fiber, if the program asks for none",
    {.least = 16384, .most = std::int64_t{2} << 30});

}  // namespace sinew::threads
