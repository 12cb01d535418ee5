// The context switch, in assembly: switch_<architecture>.S. Beside it, CMake chooses the file.
#pragma once

#include <cstdint>

extern "C" {

/// Parks the caller: its callee-saved registers and floating-point control bits on its stack, its
/// stack pointer in save[0]; goes on where `load` was parked. If the stack pointer is below save[1]
/// it calls sinew_fiber_overflow(save) instead. Hot.
void sinew_fiber_switch(void** save, void* load) noexcept;

/// The same, and sets the thread pointer (x86-64: FS base; arm64: TPIDR_EL0) on the way.
void sinew_fiber_switch_storage(void** save, void* load, std::uintptr_t thread_base) noexcept;

/// Leaves the caller for good: calls finish(argument) on the stack of `load`, then goes on there.
/// So `finish` may give the caller's stack away. `thread_base` 0: leave the thread pointer alone.
/// Does not return.
void sinew_fiber_leave(void* load, void (*finish)(void*), void* argument,
                       std::uintptr_t thread_base) noexcept;

/// A parked context below `top` (aligned to 16) that will call run(argument), which must not
/// return. Floating-point control bits are the caller's.
void* sinew_fiber_prepare(void* top, void (*run)(void*), void* argument) noexcept;

/// The calling thread's thread pointer.
std::uintptr_t sinew_fiber_thread_base() noexcept;

/// 1 if this processor and kernel let a process set it, else 0.
int sinew_fiber_can_set_thread_base() noexcept;

/// Asks for a cache line to write to; a hint.
void sinew_fiber_own_line(const void* address) noexcept;

/// Called by the switch: reports the fiber and ends the process.
[[noreturn]] void sinew_fiber_overflow(void** save) noexcept;

}  // extern "C"
