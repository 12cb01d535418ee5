// SPDX-License-Identifier: BSD-3-Clause
// The third of those that listen to calls (watch.hpp): whoever looks at the rank from outside, now
// and then. It counts calls into the page of sinew/boot/pulse.hpp.
#pragma once

#include "abi/mpi/watch.hpp"

namespace sinew::mpi::pulse {

/// The call begins, or has ended: some 60 ns each. Nothing where nobody looks any more; then the
/// next call is not watched. Any thread.
[[nodiscard]] std::int64_t begin(const watch::call& call) noexcept;
void end(const watch::call& call) noexcept;

}  // namespace sinew::mpi::pulse
