// SPDX-License-Identifier: BSD-3-Clause
// What threads that are fibers cannot have.
#pragma once

namespace sinew::threads {

/// Says once per process and thing, on stderr, that it is not to be had; returns `code`. Cold.
int refused(const char* thing, int code) noexcept;

/// Says why and ends the process with exit code 126. Cold.
[[noreturn]] void refuse_program(const char* why) noexcept;

}  // namespace sinew::threads
