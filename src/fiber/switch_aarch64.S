// SPDX-License-Identifier: BSD-3-Clause
// The context switch for arm64 (AAPCS64). See switch.hpp for the contract.
//
// A parked context is its stack pointer. From there upwards lie:
//   0 d8..d15, 64 x19..x28, 144 x29 (frame), 152 x30 (return address), 160 FPCR, 168 unused.
// FPCR holds control bits only (the sticky flags are in FPSR, which belongs to nobody); writing it
// may drain the pipeline, so it is written only if it differs.

        .text

        .macro  park
        sub     sp, sp, #176
        .cfi_def_cfa_offset 176
        stp     d8, d9, [sp, #0]
        stp     d10, d11, [sp, #16]
        stp     d12, d13, [sp, #32]
        stp     d14, d15, [sp, #48]
        stp     x19, x20, [sp, #64]
        stp     x21, x22, [sp, #80]
        stp     x23, x24, [sp, #96]
        stp     x25, x26, [sp, #112]
        stp     x27, x28, [sp, #128]
        stp     x29, x30, [sp, #144]
        mrs     x9, fpcr
        str     x9, [sp, #160]
        places
        ldr     x11, [x0, #8]
        mov     x12, sp
        cmp     x12, x11
        b.lo    9f
        .endm

// Where a parked context keeps what the unwinder wants.
        .macro  places
        .cfi_offset x19, -112
        .cfi_offset x20, -104
        .cfi_offset x21, -96
        .cfi_offset x22, -88
        .cfi_offset x23, -80
        .cfi_offset x24, -72
        .cfi_offset x25, -64
        .cfi_offset x26, -56
        .cfi_offset x27, -48
        .cfi_offset x28, -40
        .cfi_offset x29, -32
        .cfi_offset x30, -24
        .endm

// Restores the context at sp; x9 is the FPCR in force.
        .macro  enter
        ldr     x10, [sp, #160]
        cmp     x9, x10
        b.ne    2f
1:      ldp     d8, d9, [sp, #0]
        ldp     d10, d11, [sp, #16]
        ldp     d12, d13, [sp, #32]
        ldp     d14, d15, [sp, #48]
        ldp     x19, x20, [sp, #64]
        ldp     x21, x22, [sp, #80]
        ldp     x23, x24, [sp, #96]
        ldp     x25, x26, [sp, #112]
        ldp     x27, x28, [sp, #128]
        ldp     x29, x30, [sp, #144]
        add     sp, sp, #176
        .cfi_def_cfa_offset 0
        .cfi_restore x19
        .cfi_restore x20
        .cfi_restore x21
        .cfi_restore x22
        .cfi_restore x23
        .cfi_restore x24
        .cfi_restore x25
        .cfi_restore x26
        .cfi_restore x27
        .cfi_restore x28
        .cfi_restore x29
        .cfi_restore x30
        ret
        .cfi_def_cfa_offset 176
        places
2:      msr     fpcr, x10
        b       1b
        .endm

// void sinew_fiber_switch(void** save, void* load)
        .globl  sinew_fiber_switch
        .hidden sinew_fiber_switch
        .type   sinew_fiber_switch, %function
        .p2align 6
sinew_fiber_switch:
        .cfi_startproc
        park
        mov     x11, sp
        str     x11, [x0]
        mov     sp, x1
        enter
9:      b       sinew_fiber_overflow
        .cfi_endproc
        .size   sinew_fiber_switch, . - sinew_fiber_switch

// void sinew_fiber_switch_storage(void** save, void* load, std::uintptr_t thread_base)
        .globl  sinew_fiber_switch_storage
        .hidden sinew_fiber_switch_storage
        .type   sinew_fiber_switch_storage, %function
        .p2align 4
sinew_fiber_switch_storage:
        .cfi_startproc
        park
        msr     tpidr_el0, x2
        mov     x11, sp
        str     x11, [x0]
        mov     sp, x1
        enter
9:      b       sinew_fiber_overflow
        .cfi_endproc
        .size   sinew_fiber_switch_storage, . - sinew_fiber_switch_storage

// void sinew_fiber_leave(void* load, void (*finish)(void*), void* argument, std::uintptr_t base)
        .globl  sinew_fiber_leave
        .hidden sinew_fiber_leave
        .type   sinew_fiber_leave, %function
        .p2align 4
sinew_fiber_leave:
        .cfi_startproc
        mov     sp, x0
        // From here on the frame is that of the context to enter.
        .cfi_def_cfa_offset 176
        places
        cbz     x3, 3f
        msr     tpidr_el0, x3
3:      mov     x0, x2
        blr     x1
        mrs     x9, fpcr
        enter
        .cfi_endproc
        .size   sinew_fiber_leave, . - sinew_fiber_leave

// void* sinew_fiber_prepare(void* top, void (*run)(void*), void* argument)
        .globl  sinew_fiber_prepare
        .hidden sinew_fiber_prepare
        .type   sinew_fiber_prepare, %function
        .p2align 4
sinew_fiber_prepare:
        .cfi_startproc
        sub     x0, x0, #176
        stp     x2, x1, [x0, #64]       // x19: argument, x20: run
        adr     x9, start
        stp     xzr, x9, [x0, #144]
        mrs     x9, fpcr
        str     x9, [x0, #160]
        ret
        .cfi_endproc
        .size   sinew_fiber_prepare, . - sinew_fiber_prepare

// The outermost frame of a fiber: unwinding ends here, so that an exception which nobody catches
// terminates the program where it was thrown.
        .type   start, %function
        .p2align 4
        nop                             // a return address before it would belong to prepare
start:
        .cfi_startproc
        .cfi_undefined x30
        mov     x0, x19
        blr     x20
        brk     #1
        .cfi_endproc
        .size   start, . - start

// std::uintptr_t sinew_fiber_thread_base()
        .globl  sinew_fiber_thread_base
        .hidden sinew_fiber_thread_base
        .type   sinew_fiber_thread_base, %function
        .p2align 4
sinew_fiber_thread_base:
        .cfi_startproc
        mrs     x0, tpidr_el0
        ret
        .cfi_endproc
        .size   sinew_fiber_thread_base, . - sinew_fiber_thread_base

// int sinew_fiber_can_set_thread_base()
        .globl  sinew_fiber_can_set_thread_base
        .hidden sinew_fiber_can_set_thread_base
        .type   sinew_fiber_can_set_thread_base, %function
        .p2align 4
sinew_fiber_can_set_thread_base:
        .cfi_startproc
        mov     w0, #1
        ret
        .cfi_endproc
        .size   sinew_fiber_can_set_thread_base, . - sinew_fiber_can_set_thread_base

// void sinew_fiber_own_line(const void* address)
        .globl  sinew_fiber_own_line
        .hidden sinew_fiber_own_line
        .type   sinew_fiber_own_line, %function
        .p2align 4
sinew_fiber_own_line:
        .cfi_startproc
        prfm    pstl1keep, [x0]
        ret
        .cfi_endproc
        .size   sinew_fiber_own_line, . - sinew_fiber_own_line

        .section .note.GNU-stack, "", %progbits
