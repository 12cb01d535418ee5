# SPDX-License-Identifier: BSD-3-Clause
"""The gdb script lists fibers with their backtraces. Usage: gdb_test.py PROGRAM SCRIPT"""

import re
import shutil
import subprocess
import sys

SKIPPED = 77
# `sinew fibers bt N` of the fiber with this name.
FIND = r're.search(r"fiber (\d+) at \S+ .worker-bee", gdb.execute("sinew fibers", to_string=True))'
ONE = f'python import re; gdb.execute("sinew fibers bt " + {FIND}.group(1))'


def main():
    program, script = sys.argv[1:]
    gdb = shutil.which("gdb")
    if gdb is None:
        print("no gdb: not checked")
        return SKIPPED
    commands = ["set confirm off", f"source {script}", "break stop_here", "run",
                "sinew fibers", "echo ----\\n", "sinew-fibers bt", "echo ----\\n", ONE,
                "echo ----\\n", "bt", "continue"]
    line = [gdb, "-nx", "-batch"] + [w for c in commands for w in ("-ex", c)] + [program]
    run = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    print(run.stdout, run.stderr)
    if "ptrace" in run.stderr and "not permitted" in run.stderr:
        return SKIPPED
    listing, traces, one, after = run.stdout.split("----\n")
    for name, state in (("main", "running"), ("worker-bee", "ready or suspended"),
                        ("joiner", "join"), ("sleeper", "sleep"), ("fresh", "not started")):
        assert re.search(rf'fiber \d+ at 0x\w+ "{name}": {state}\n', listing), (name, state)
    assert "ended-already" not in listing
    bee = traces.split('"worker-bee"')[1].split("fiber ")[0]
    assert re.search(r"deep_in_the_hive.*\n(.*\n)*.*hive", bee), bee
    assert re.search(r"deep_in_the_hive", one) and one.count("fiber ") == 1, one
    assert "stop_here" in after, "the registers were not put back"
    assert "exited normally" in after, "the program did not go on as before"
    return 0


sys.exit(main())
