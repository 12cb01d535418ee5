// SPDX-License-Identifier: BSD-3-Clause
// Output that Fortran still holds in its buffers.
#pragma once

namespace sinew::coarray {

/// Writes it out, but for units that are locked: a function that an I/O statement calls may end the
/// program, and then the statement's unit stays locked by this very thread. Takes half a second if
/// there is one, else microseconds. Cold.
void flush_units() noexcept;

}  // namespace sinew::coarray
