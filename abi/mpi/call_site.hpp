// SPDX-License-Identifier: BSD-3-Clause
// From where in the program a function of the binding has been called.
#pragma once

namespace sinew::mpi {

/// An address within the program's call. `returns_to` and `frame`: the return address and the
/// canonical frame address of a function of the binding. Where its caller is another library of
/// ours, for Fortran or another ABI, that one's caller is found; where it is a module for Python,
/// the program's place there (base/python_sites.hpp). Null of null. Some ns, but for the first call
/// from each such place. Any thread.
[[nodiscard]] const void* call_site(const void* returns_to, const void* frame) noexcept;

}  // namespace sinew::mpi
