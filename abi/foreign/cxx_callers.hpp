// SPDX-License-Identifier: BSD-3-Clause
// MPICH's library for C++ creates operations, error handlers and keys with functions of C++ as if
// those were C's, and then says which functions of its own call them. It does so in the thread that
// has created them, at once.
#pragma once

#include "abi/slots.hpp"

namespace sinew::foreign {

/// Of the operation or the error handler that this thread has created last.
void set_caller(slots::procedure* caller);
/// Of the key of attributes that this thread has created last.
void set_key_callers(slots::procedure* copy, slots::procedure* erase);

}  // namespace sinew::foreign
