// SPDX-License-Identifier: BSD-3-Clause
// Objects of which a process has one, however many of our libraries hold the code that makes them:
// libmpi_abi and libcaf_sinew each carry a copy of core, but must share one runtime. This table is
// in libsinew.so, of which there is one copy (docs/decisions/0005-one-copy.md, 0006).
#pragma once

namespace sinew::process_object {

/// The object of that name, made by the first caller, and counts one user more. `build` is the
/// build_id of the caller's copy of the code (build_id.hpp): copies of two builds may lay the
/// object out differently, so the second is refused with an error. What `make` throws goes to the
/// caller. Any thread; makers must not call join(). Cold.
[[nodiscard]] void* join(const char* name, const char* build, void* (*make)(void* context),
                         void* context);

/// One user less. The last gets the object, to end what it does, all others null. The object stays
/// in the table. Cold.
[[nodiscard]] void* leave(const char* name) noexcept;

}  // namespace sinew::process_object
