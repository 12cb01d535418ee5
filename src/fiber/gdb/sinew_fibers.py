# SPDX-License-Identifier: BSD-3-Clause
"""gdb commands for Sinew's fibers. Load it with `source sinew_fibers.py`.

  sinew-fibers           lists them: number, control block, name, what they do
  sinew-fibers bt [N]    the backtraces of all, or of number N

Works without debug information of Sinew. Backtraces need a live process (x86-64), because they
borrow its registers; these are put back.
"""

import gdb

# What sinew_fiber_debug holds, in this order (struct debug_view in src/fiber/hub.hpp).
FIELDS = (
    "version table chunks carved carved_step workers current sp alive doing name".split()
)
# A parked context, from its stack pointer upwards (src/fiber/switch_x86_64.S).
PARKED = {"r15": 8, "r14": 16, "r13": 24, "r12": 32, "rbx": 40, "rbp": 48, "rip": 56}
PARKED_BYTES = 64


def memory(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def number(address, size=8):
    return int.from_bytes(memory(address, size), "little")


def text(address):
    """The string at an address, or ''."""
    if address == 0:
        return ""
    out = b""
    while b"\0" not in out and len(out) < 64:
        out += memory(address + len(out), 8)
    return out.split(b"\0")[0].decode(errors="replace")


def view():
    try:
        at = int(gdb.parse_and_eval("(unsigned long)&sinew_fiber_debug"))
    except gdb.error:
        raise gdb.GdbError("this program has no fibers of Sinew (no symbol sinew_fiber_debug)")
    words = {name: number(at + 8 * i) for i, name in enumerate(FIELDS)}
    if words["version"] != 1:
        raise gdb.GdbError("another version of Sinew: use the script that came with it")
    return words


def fibers():
    """(number, address, name, state, stack pointer or None) of all that have not ended."""
    v = view()
    if v["table"] == 0:
        return
    running = {number(number(v["current"] + 8 * i)) for i in range(v["workers"])}
    for chunk in range(number(v["chunks"], 4)):
        first, stride = number(v["table"] + 16 * chunk), number(v["table"] + 16 * chunk + 8)
        for slot in range(number(v["carved"] + chunk * v["carved_step"], 4)):
            at = first + slot * stride
            if number(at + v["alive"], 1) == 0:
                continue
            name = memory(at + v["name"], 16).split(b"\0")[0].decode(errors="replace")
            state, sp = text(number(at + v["doing"])) or "ready or suspended", number(at + v["sp"])
            if at in running:
                state, sp = "running", None
            yield chunk * 512 + slot, at, name, state, sp


class Borrowed:
    """The registers of the selected thread, put back in the end."""

    def __enter__(self):
        gdb.newest_frame().select()
        names = list(PARKED) + ["rsp"]
        self.before = {r: int(gdb.parse_and_eval(f"(unsigned long)${r}")) for r in names}
        return self

    def set(self, values):
        for register, value in values.items():
            gdb.execute(f"set ${register} = {value:#x}", to_string=True)

    def __exit__(self, *_):
        self.set(self.before)
        gdb.execute("frame 0", to_string=True)


def backtrace(sp):
    with Borrowed() as registers:
        registers.set({r: number(sp + offset) for r, offset in PARKED.items()})
        registers.set({"rsp": sp + PARKED_BYTES})
        return gdb.execute("backtrace", to_string=True)


class Sinew(gdb.Command):
    """Commands for programs that use Sinew."""

    def __init__(self):
        super().__init__("sinew", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class SinewFibers(gdb.Command):
    """Lists Sinew's fibers; `sinew fibers bt [N]` with their backtraces."""

    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split()
        if words and words[0] != "bt":
            raise gdb.GdbError("usage: sinew fibers [bt [N]]")
        only = int(words[1]) if len(words) > 1 else None
        for fiber, at, name, state, sp in fibers():
            if only is not None and fiber != only:
                continue
            print(f"fiber {fiber} at {at:#x} \"{name}\": {state}")
            if words and sp is not None:
                print(backtrace(sp), end="")
            elif words:
                print("  (see its worker: thread apply all backtrace)")


Sinew()
SinewFibers("sinew fibers")
SinewFibers("sinew-fibers")  # its older name
