// SPDX-License-Identifier: BSD-3-Clause
/* The arm64 context switch alone, without a C library, for an emulator. Exits with 0, or with the
   number of the first thing that is wrong. */
typedef unsigned long word;

void sinew_fiber_switch(void** save, void* load);
void sinew_fiber_switch_storage(void** save, void* load, word thread_base);
void sinew_fiber_leave(void* load, void (*finish)(void*), void* argument, word thread_base);
void* sinew_fiber_prepare(void* top, void (*run)(void*), void* argument);
word sinew_fiber_thread_base(void);

static void quit(long code) {
  register long x0 __asm__("x0") = code;
  register long x8 __asm__("x8") = 93; /* exit */
  __asm__ volatile("svc #0" : : "r"(x0), "r"(x8));
  __builtin_unreachable();
}
static void check(int good, int number) {
  if (!good) quit(number);
}

static int overflow_expected;
void sinew_fiber_overflow(void** save) {
  (void)save;
  quit(overflow_expected ? 0 : 90);
}

static word read_fpcr(void) {
  word v;
  __asm__ volatile("mrs %0, fpcr" : "=r"(v));
  return v;
}
static void write_fpcr(word v) { __asm__ volatile("msr fpcr, %0" : : "r"(v)); }

static void* first[2];  /* where it parked, and its lowest address */
static void* second[2];
static char stack[16384] __attribute__((aligned(16)));
static word turns;
static word finished;

enum { upward = 1 << 22, downward = 2 << 22 };

/* All callee-saved registers hold `seed` + i across a switch to the other side. */
word switch_holding(void** save, void* load, word seed);
__asm__(
    "switch_holding:\n"
    "stp x19, x20, [sp, #-176]!\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n"
    "stp x25, x26, [sp, #48]\n stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n"
    "stp d14, d15, [sp, #144]\n str x2, [sp, #160]\n"
    ".irp r, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\n add x2, x2, #1\n mov x\\r, x2\n .endr\n"
    "ldr x2, [sp, #160]\n"
    ".irp r, 8, 9, 10, 11, 12, 13, 14, 15\n add x2, x2, #1\n fmov d\\r, x2\n .endr\n"
    "bl sinew_fiber_switch\n"
    "ldr x1, [sp, #160]\n mov x0, #0\n"
    ".irp r, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\n"
    "add x1, x1, #1\n sub x3, x\\r, x1\n orr x0, x0, x3\n"
    ".endr\n"
    "ldr x1, [sp, #160]\n"
    ".irp r, 8, 9, 10, 11, 12, 13, 14, 15\n"
    "add x1, x1, #1\n fmov x3, d\\r\n sub x3, x3, x1\n orr x0, x0, x3\n"
    ".endr\n"
    "ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n ldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n ldp d8, d9, [sp, #96]\n"
    "ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n"
    "ldp x19, x20, [sp], #176\n ret\n");

static void on_end(void* argument) { finished = *(word*)argument; }

static void run(void* argument) {
  check(*(word*)argument == 42, 1);
  check(((word)__builtin_frame_address(0) & 15) == 0, 2);
  check(read_fpcr() == upward, 3); /* as its maker's was */
  write_fpcr(downward);
  for (word i = 0; i < 1000; ++i) {
    ++turns;
    check(switch_holding(second, first[0], 5000 + 100 * i) == 0, 10);
    check(read_fpcr() == downward, 4);
  }
  sinew_fiber_leave(first[0], on_end, argument, 0);
  quit(5);
}

void check_all(void) {
  word argument = 42;
  second[1] = stack;
  write_fpcr(upward);
  second[0] = sinew_fiber_prepare(stack + sizeof stack, run, &argument);
  write_fpcr(0);
  for (word i = 0; i < 1000; ++i) {
    check(switch_holding(first, second[0], 700000 + 100 * i) == 0, 14);
    check(turns == i + 1, 6);
    check(read_fpcr() == 0, 7);
  }
  check(finished == 0, 8);
  check(switch_holding(first, second[0], 1) == 0, 15);
  check(finished == 42, 9);

  turns = 0;
  const word before = sinew_fiber_thread_base();
  write_fpcr(upward);
  second[0] = sinew_fiber_prepare(stack + sizeof stack, run, &argument);
  write_fpcr(0);
  sinew_fiber_switch_storage(first, second[0], 0x5000);
  check(turns == 1 && sinew_fiber_thread_base() == 0x5000, 11);
  sinew_fiber_switch_storage(first, second[0], before);
  check(turns == 2 && sinew_fiber_thread_base() == before, 12);

  overflow_expected = 1;
  first[1] = (void*)-16; /* any stack pointer is below that */
  sinew_fiber_switch(first, second[0]);
  quit(13);
}

__asm__(".globl _start\n_start: mov x29, #0\n mov x30, #0\n bl check_all\n");
