// SPDX-License-Identifier: BSD-3-Clause
// A fence that others pay for: after it every running thread has executed a full barrier. So a hot
// path that orders a store before a load, against a rare visitor, needs no fence itself.
#pragma once

#include "sinew/base/futex.hpp"

namespace sinew::base {

/// Announces this process as one whose threads take part; false where the kernel does not offer
/// it. Repeatable. Cold.
[[nodiscard]] bool join_membarrier(within who) noexcept;

/// Every thread of this process (or of all processes that joined for `machine`) executes a full
/// barrier before this returns. Only after join_membarrier() has said yes. Some microseconds. Warm.
void membarrier(within who) noexcept;

}  // namespace sinew::base
