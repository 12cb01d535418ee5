// SPDX-License-Identifier: BSD-3-Clause
// Thread-local storage of a fiber's own: the register through which the compiler finds
// `thread_local` variables (x86-64: FS base, arm64: TPIDR_EL0) is switched with the fiber.
#pragma once

#include <cstdint>

namespace sinew::fiber {

/// Give it in spawn_options::thread_base: the address of a thread control block laid out as the C
/// library wants it, with the static storage of all modules around it. It must live until join()
/// has returned; the fiber runs on it from its first instruction to its last. Fibers without one
/// share their worker's, at no cost. Whatever the C library itself keeps there (errno, locale, its
/// lock owner's number) is the fiber's then.

/// Can an ordinary process set that register here? On x86-64 processor and kernel must allow it
/// (FSGSBASE, Linux 5.9). Cold.
[[nodiscard]] bool thread_storage_supported() noexcept;

/// What the report of a stack that ran over advises for fibers with a thread pointer of their own,
/// whose stacks another setting rules. A string that lives as long as the program. Cold.
void advise_on_thread_stacks(const char* advice) noexcept;

/// From now on `seen` is called before each switch from one thread pointer to another, on the
/// first. It must not wait. Once set it stays. Any thread.
using storage_switch = void (*)(std::uintptr_t from, std::uintptr_t to) noexcept;
void watch_storage_switches(storage_switch seen) noexcept;

/// The register's value in the caller. Any context. Hot.
[[nodiscard]] std::uintptr_t thread_base() noexcept;

}  // namespace sinew::fiber
