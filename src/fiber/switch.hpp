// SPDX-License-Identifier: BSD-3-Clause
// The context switch, in assembly: here and in switch_<architecture>.S, which CMake chooses.
#pragma once

#include <cstdint>

extern "C" {

/// Parks the caller: its callee-saved registers and floating-point control bits on its stack, its
/// stack pointer in save[0]; goes on where `load` was parked. If the stack pointer is below save[1]
/// it calls sinew_fiber_overflow(save) instead. Hot.
#if defined(__x86_64__)
inline void sinew_fiber_switch(void** save, void* load) noexcept;
#else
void sinew_fiber_switch(void** save, void* load) noexcept;
#endif

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

#if defined(__x86_64__)
/// Inline, for the reasons given at the top of switch_x86_64.S, where the parked context is drawn.
/// The call of sinew_fiber_overflow, which is in every function that this is part of, also keeps
/// the compiler from using memory below the stack pointer.
[[gnu::always_inline]] inline void sinew_fiber_switch(void** save, void* load) noexcept {
  char* sp = nullptr;
  asm volatile("movq %%rsp, %0" : "=r"(sp));
  if (sp - 64 < save[1]) [[unlikely]] {
    sinew_fiber_overflow(save);
  }
  asm volatile(
      "leaq 3f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "pushq %%rbp\n\t"
      "pushq %%rbx\n\t"
      "pushq %%r12\n\t"
      "pushq %%r13\n\t"
      "pushq %%r14\n\t"
      "pushq %%r15\n\t"
      "subq $8, %%rsp\n\t"
      "fnstcw (%%rsp)\n\t"
      "movzwl (%%rsp), %%eax\n\t"
      "movq %%rsp, (%%rdi)\n\t"
      "movq %%rsi, %%rsp\n\t"
      "cmpw (%%rsp), %%ax\n\t"
      "jne 2f\n"
      "1:\n\t"
      "addq $8, %%rsp\n\t"
      "popq %%r15\n\t"
      "popq %%r14\n\t"
      "popq %%r13\n\t"
      "popq %%r12\n\t"
      "popq %%rbx\n\t"
      "popq %%rbp\n\t"
      "popq %%rdx\n\t"
      "jmp *%%rdx\n"
      "2:\n\t"
      "call sinew_fiber_restore_control\n\t"
      "jmp 1b\n"
      "3:\n"
      : "+D"(save), "+S"(load)
      :
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
        "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15",
#if defined(__AVX512F__)
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
        "k7",
#endif
        "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "memory", "cc");
}
#endif

}  // extern "C"
