// SPDX-License-Identifier: BSD-3-Clause
// Which module has which of the fabric's handlers: the one list.
#pragma once

#include "sinew/fabric/fabric.hpp"

namespace sinew::core::handlers {

/// The first of each module. A module that needs more than one counts on from there.
inline constexpr fabric::handler_id p2p = 1;
inline constexpr fabric::handler_id rma = 11;
inline constexpr fabric::handler_id event = 12;
inline constexpr fabric::handler_id end = 13;

static_assert(end <= fabric::max_handlers);

}  // namespace sinew::core::handlers
