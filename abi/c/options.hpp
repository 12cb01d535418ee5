// SPDX-License-Identifier: BSD-3-Clause
// What the calls that make fibers have in common.
#pragma once

#include "sinew.h"
#include "sinew/fiber/fiber.hpp"

namespace sinew::c_binding {

/// SINEW_OK and `to`, or the code for what is wrong with the arguments of a call.
int options_of(const sinew_fiber_options* how, sinew_fiber** made, void (*entry)(void*),
               fiber::spawn_options& to) noexcept;

}  // namespace sinew::c_binding
