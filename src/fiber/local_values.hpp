// SPDX-License-Identifier: BSD-3-Clause
// The values that one fiber, or one thread, has under all keys.
#pragma once

#include "fiber/control.hpp"

namespace sinew::fiber {

/// Calls the destructors of what `f`, which runs and is about to end, has stored.
void destroy_locals(fiber& f) noexcept;

}  // namespace sinew::fiber
