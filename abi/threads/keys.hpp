// SPDX-License-Identifier: BSD-3-Clause
// Values by pthread keys: glibc keeps them in the thread's block, which is right for fibers too.
// Only who destroys them when a fiber ends must be known.
#pragma once

namespace sinew::threads {

/// Of the calling thread, as POSIX has it: again while destructors set values, up to four times.
void destroy_key_values();

}  // namespace sinew::threads
