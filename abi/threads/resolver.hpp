// SPDX-License-Identifier: BSD-3-Clause
// A file of its own, because <resolv.h> defines macros with names that others use.
#pragma once

namespace sinew::threads {

/// glibc's resolver works on what a pointer in TLS leads to, which is set when a kernel thread
/// starts; this does the same for the caller's block.
void open_resolver() noexcept;

}  // namespace sinew::threads
