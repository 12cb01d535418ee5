// Memory of coarrays, locks and events.
#pragma once

#include "abi/coarray/failure.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/token.hpp"

namespace sinew::coarray {

/// See facts of the interface in the README. Throws sinew::error.
void enrol(std::size_t size, registration kind, void** token_at, descriptor& d);
void withdraw(void** token_at, deregistration kind);
/// The compiler may pass what has been released, or was never set.
[[nodiscard]] bool is_registered(const void* token) noexcept;
/// END TEAM: what was allocated in the team is so no more.
void release_memory_of(const team& t);

}  // namespace sinew::coarray
