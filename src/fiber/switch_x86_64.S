// SPDX-License-Identifier: BSD-3-Clause
# The context switch for x86-64 (System V calling convention). See switch.hpp for the contract.
#
# A parked context is its stack pointer. From there upwards lie:
#    0 x87 control word (2 bytes), 8 r15, 16 r14, 24 r13, 32 r12, 40 rbx, 48 rbp, 56 return address.
# Everything else is the caller's to save.
#
# Floating-point control. Storing MXCSR makes a switch of 2.4 ns one of 6.5 (measured with
# everything else the same), and loading it costs some 200 ns when a sticky flag changes. But
# rounding and exception masks stand in the x87 control word as well: fesetround, feenableexcept,
# fesetenv and Fortran's ieee_* set both, and that word is read in no time. So it is the witness:
# only if the two contexts' words differ are it and the same bits of MXCSR set. Sticky flags
# belong to nobody. Flush-to-zero and denormals-are-zero, which only MXCSR has, belong to the
# worker's thread, and so do changes of MXCSR behind the library's back.
#
# Contexts are entered by an indirect jump, and parked by code that is part of the functions that
# wait (switch.hpp): there is no call without its return, so the processor's return stack stays in
# step with the frames above, which are the same in most fibers; and each place that parks has a
# branch of its own, which remembers where it went. A `ret` here costs 6 to 8 ns more as soon as two
# contexts were not parked at the same place.

        .text

        .macro  park
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r15, 8
        .cfi_rel_offset %r14, 16
        .cfi_rel_offset %r13, 24
        .cfi_rel_offset %r12, 32
        .cfi_rel_offset %rbx, 40
        .cfi_rel_offset %rbp, 48
        fnstcw  (%rsp)
        cmpq    8(%rdi), %rsp
        jb      9f
        .endm

# Restores the context at rsp; the control word in force is in ax.
        .macro  enter
        cmpw    (%rsp), %ax
        jne     2f
1:      addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rdx
        jmp     *%rdx
        .cfi_adjust_cfa_offset 64
        .cfi_offset %rip, -8
        .cfi_rel_offset %r15, 8
        .cfi_rel_offset %r14, 16
        .cfi_rel_offset %r13, 24
        .cfi_rel_offset %r12, 32
        .cfi_rel_offset %rbx, 40
        .cfi_rel_offset %rbp, 48
2:      call    sinew_fiber_restore_control
        jmp     1b
        .endm

        .macro  overflow
9:      subq    $8, %rsp                # as after a call
        jmp     sinew_fiber_overflow
        .endm

# Sets the control bits of the context parked above the caller's return address. Uses rax, rcx.
        .globl  sinew_fiber_restore_control
        .hidden sinew_fiber_restore_control
        .type   sinew_fiber_restore_control, @function
        .p2align 4
sinew_fiber_restore_control:
        .cfi_startproc
        fldcw   8(%rsp)
        movzwl  8(%rsp), %eax
        movl    %eax, %ecx
        andl    $0x003f, %eax           # masks: bits 0 to 5, in MXCSR 7 to 12
        shll    $7, %eax
        andl    $0x0c00, %ecx           # rounding: bits 10 and 11, in MXCSR 13 and 14
        shll    $3, %ecx
        orl     %ecx, %eax
        stmxcsr -8(%rsp)
        movl    -8(%rsp), %ecx
        andl    $~0x7f80, %ecx
        orl     %ecx, %eax
        movl    %eax, -8(%rsp)
        ldmxcsr -8(%rsp)
        ret
        .cfi_endproc
        .size   sinew_fiber_restore_control, . - sinew_fiber_restore_control

# void sinew_fiber_switch_storage(void** save, void* load, std::uintptr_t thread_base)
        .globl  sinew_fiber_switch_storage
        .hidden sinew_fiber_switch_storage
        .type   sinew_fiber_switch_storage, @function
        .p2align 4
sinew_fiber_switch_storage:
        .cfi_startproc
        park
        wrfsbase %rdx
        movzwl  (%rsp), %eax
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        enter
        overflow
        .cfi_endproc
        .size   sinew_fiber_switch_storage, . - sinew_fiber_switch_storage

# void sinew_fiber_leave(void* load, void (*finish)(void*), void* argument, std::uintptr_t base)
        .globl  sinew_fiber_leave
        .hidden sinew_fiber_leave
        .type   sinew_fiber_leave, @function
        .p2align 4
sinew_fiber_leave:
        .cfi_startproc
        movq    %rdi, %rsp
        # From here on the frame is that of the context to enter.
        .cfi_def_cfa %rsp, 64
        .cfi_rel_offset %r15, 8
        .cfi_rel_offset %r14, 16
        .cfi_rel_offset %r13, 24
        .cfi_rel_offset %r12, 32
        .cfi_rel_offset %rbx, 40
        .cfi_rel_offset %rbp, 48
        testq   %rcx, %rcx
        jz      3f
        wrfsbase %rcx
3:      movq    %rdx, %rdi
        call    *%rsi
        fnstcw  -8(%rsp)
        movzwl  -8(%rsp), %eax
        enter
        .cfi_endproc
        .size   sinew_fiber_leave, . - sinew_fiber_leave

# void* sinew_fiber_prepare(void* top, void (*run)(void*), void* argument)
        .globl  sinew_fiber_prepare
        .hidden sinew_fiber_prepare
        .type   sinew_fiber_prepare, @function
        .p2align 4
sinew_fiber_prepare:
        .cfi_startproc
        leaq    -64(%rdi), %rax
        fnstcw  (%rax)
        movq    %rsi, 32(%rax)
        movq    %rdx, 40(%rax)
        movq    $0, 48(%rax)
        leaq    start(%rip), %rcx
        movq    %rcx, 56(%rax)
        ret
        .cfi_endproc
        .size   sinew_fiber_prepare, . - sinew_fiber_prepare

# The outermost frame of a fiber: unwinding ends here, so that an exception which nobody catches
# terminates the program where it was thrown.
        .type   start, @function
        .p2align 4
        nop                             # a return address before it would belong to prepare
start:
        .cfi_startproc
        .cfi_undefined %rip
        movq    %rbx, %rdi
        leaq    1f(%rip), %rax
        pushq   %rax
        jmp     *%r12                   # no call: it never returns
1:      ud2
        .cfi_endproc
        .size   start, . - start

# std::uintptr_t sinew_fiber_thread_base()
        .globl  sinew_fiber_thread_base
        .hidden sinew_fiber_thread_base
        .type   sinew_fiber_thread_base, @function
        .p2align 4
sinew_fiber_thread_base:
        .cfi_startproc
        movq    %fs:0, %rax             # the ABI keeps the base there: no rdfsbase needed
        ret
        .cfi_endproc
        .size   sinew_fiber_thread_base, . - sinew_fiber_thread_base

# int sinew_fiber_can_set_thread_base(): the kernel says so in bit 1 of AT_HWCAP2 (26)
        .globl  sinew_fiber_can_set_thread_base
        .hidden sinew_fiber_can_set_thread_base
        .type   sinew_fiber_can_set_thread_base, @function
        .p2align 4
sinew_fiber_can_set_thread_base:
        .cfi_startproc
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movl    $26, %edi
        call    getauxval@PLT
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        shrl    $1, %eax
        andl    $1, %eax
        ret
        .cfi_endproc
        .size   sinew_fiber_can_set_thread_base, . - sinew_fiber_can_set_thread_base

# void sinew_fiber_own_line(const void* address)
        .globl  sinew_fiber_own_line
        .hidden sinew_fiber_own_line
        .type   sinew_fiber_own_line, @function
        .p2align 4
sinew_fiber_own_line:
        .cfi_startproc
        prefetchw (%rdi)                # processors that do not know it take it for a nop
        ret
        .cfi_endproc
        .size   sinew_fiber_own_line, . - sinew_fiber_own_line

        .section .note.GNU-stack, "", @progbits
