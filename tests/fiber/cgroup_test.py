# SPDX-License-Identifier: BSD-3-Clause
"""In a control group with little memory fibers end with a sentence, not with the process. Usage:
cgroup_test.py KIB PROGRAM...; skipped where no control group can be made. PROGRAM and the words
after it make as many fibers as a number behind them says, each of which takes less than KIB."""

import os
import re
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
MIB = 1 << 20
ROOTS = ((Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
         (Path("/sys/fs/cgroup"), "memory.max"))


def make_group():
    """The folder and the file of the limit of a group of our own; None, with a word, if none."""
    why = "no control groups"
    for root, limit in ROOTS:
        group = root / f"sinew_test_{os.getpid()}"
        try:
            group.mkdir()
        except OSError as problem:
            why = problem
            continue
        if (group / limit).exists():
            return group, limit
        group.rmdir()
    print(f"no control group can be made here: {why}")
    return None


def run(group, limit, mib, words, fibers):
    """In a new group: what the kernel has not yet taken back from a process that has ended counts
    against the group in which that was."""
    group.rmdir()
    group.mkdir()
    (group / limit).write_text(str(mib * MIB))

    def enter():
        (group / "cgroup.procs").write_text(str(os.getpid()))

    done = subprocess.run([*words, str(fibers)], capture_output=True, text=True, timeout=120,
                          check=False, preexec_fn=enter)
    made = re.match(r"(\d+) fibers", done.stdout)
    assert made, f"exit code {done.returncode}: {done.stdout} {done.stderr}"
    return int(made[1]), done.returncode, done.stderr


def check(group, limit, kib, program):
    for mib in (64, 512):
        least = mib * MIB // 1024 // kib
        made, code, said = run(group, limit, mib, program, 1_048_576)
        print(f"{mib} MiB: {made} fibers")
        assert code == 3 and least < made < mib * MIB // 4096, (made, code, said)
        assert said.count("there is no memory for more fibers") == 1, said
        made, code, said = run(group, limit, mib, program, least)
        assert (made, code, said) == (least, 0, ""), (made, code, said)


def main(kib, *program):
    found = make_group()
    if found is None:
        return SKIPPED
    group, limit = found
    try:
        (group / limit).write_text(str(64 * MIB))
        check(group, limit, int(kib), program)
    except PermissionError as problem:
        print(f"no limit can be set here: {problem}")
        return SKIPPED
    finally:
        group.rmdir()
    return 0


sys.exit(main(*sys.argv[1:]))
