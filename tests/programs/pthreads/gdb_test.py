# SPDX-License-Identifier: BSD-3-Clause
"""gdb's script lists a program's threads that are fibers, and their calls.

gdb_test.py PROGRAM SCRIPT libsinew_threads.so
"""

import re
import shutil
import subprocess
import sys

SKIPPED = 77


def main():
    program, script, library = sys.argv[1:]
    gdb = shutil.which("gdb")
    if gdb is None:
        print("no gdb: not checked")
        return SKIPPED
    commands = ["set confirm off", f"set environment LD_PRELOAD {library}",
                "set environment SINEW_FIBER_WORKERS 1", "break last_body", "run",
                f"source {script}", "sinew fibers", "echo ----\\n", "sinew-fibers bt",
                "continue"]
    line = [gdb, "-nx", "-batch"] + [w for c in commands for w in ("-ex", c)] + [program]
    run = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    print(run.stdout, run.stderr)
    if "ptrace" in run.stderr and "not permitted" in run.stderr:
        return SKIPPED
    listing, traces = run.stdout.split("----\n")
    assert re.search(r'fiber \d+ at 0x\w+ "main": pthread_exit\n', listing)
    assert re.search(r'fiber \d+ at 0x\w+ "pthread": running\n', listing)
    assert re.search(r"leave_main", traces.split('"main"')[1].split("fiber ")[0])
    assert "exited normally" in traces, "the program did not go on as before"
    return 0


sys.exit(main())
