// SPDX-License-Identifier: BSD-3-Clause
// From x[i]%a%b(3:5)%c to the elements it names: pointers and bounds on the way are the other
// image's.
#pragma once

#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/token.hpp"
#include "abi/coarray/transfer.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::coarray {

/// Throws sinew::error if something on the way is not allocated.
[[nodiscard]] far_side walk(const token& t, job_rank rank, const reference* refs, type what,
                            int kind);
/// Whether the last allocatable or pointer component is there, and all before it.
[[nodiscard]] bool is_present(const token& t, job_rank rank, const reference* refs);
/// (Re)allocates an allocatable array or scalar as the elements' shape asks for.
void make_room(descriptor& d, const far_side& shape);

}  // namespace sinew::coarray
