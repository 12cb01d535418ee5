#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mixed programs with threads, several at a time, for minutes: as fibers they say what they say
natively.

soak.py SINEW [SECONDS [SEED]]: 600 s by default. Draws programs, numbers of threads and of workers,
starts three at a time, and compares output and exit code with a native run's of the same words.
What is not installed is left out. Prints the seed, each difference, and last how many runs passed
and failed. Exit code 77 if fewer than two programs are there.
"""

import concurrent.futures
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_S = 120
AT_A_TIME = 3
THREADS_PY = Path(__file__).resolve().parents[1] / "programs" / "pthreads" / "threads.py"


def programs(data):
    """Name and, for a number of threads, the command; whose output the number must not change."""
    text, packed = data / "text", data / "text.gz"
    all_of_them = {
        "sort": lambda n: ["sort", f"--parallel={n}", "-S", "1M", text],
        "pigz": lambda n: ["pigz", "-p", n, "-c", "-n", text],
        "pigz-d": lambda n: ["pigz", "-p", n, "-d", "-c", packed],
        "xz": lambda n: ["xz", f"-T{n}", "-1", "--block-size=256KiB", "-c", text],
        "zstd": lambda n: ["zstd", f"-T{n}", "-q", "-c", text],
        "pbzip2": lambda n: ["pbzip2", f"-p{n}", "-1", "-c", text],
        "lbzip2": lambda n: ["lbzip2", "-n", n, "-1", "-c", text],
        "python": lambda n: [sys.executable, "-B", THREADS_PY],
    }
    return {name: words for name, words in all_of_them.items() if shutil.which(str(words(1)[0]))}


def make_data(folder, dice):
    lines = (b"%016x %s\n" % (dice.getrandbits(64), b"word " * dice.randrange(8))
             for _ in range(100_000))
    (folder / "text").write_bytes(b"".join(lines))
    with open(folder / "text.gz", "wb") as to:
        subprocess.run(["gzip", "-n", "-c", folder / "text"], stdout=to, check=True,
                       timeout=LIMIT_S)


def outcome(words, **environment):
    """Exit code, a hash of the output, and the end of what it says beside."""
    try:
        done = subprocess.run(list(map(str, words)), capture_output=True, check=False,
                              timeout=LIMIT_S + 10, env=dict(os.environ, **environment))
    except subprocess.TimeoutExpired:
        return "no end", "", b""
    return done.returncode, hashlib.sha256(done.stdout).hexdigest(), done.stderr[-300:]


def one_run(sinew, name, words, threads, workers):
    """Empty, or what differs."""
    command = words(threads)
    native = outcome(command)
    fibers = outcome([sinew, "run", "--timeout", LIMIT_S, "--threads-as-fibers", *command],
                     SINEW_FIBER_WORKERS=str(workers))
    if native[:2] == fibers[:2]:
        return ""
    return (f"{name} with {threads} threads, {workers} workers: exit code {fibers[0]}, natively "
            f"{native[0]}; output {'equal' if native[1] == fibers[1] else 'different'}; "
            f"{fibers[2]!r}")


def main(sinew, seconds="600", seed=""):
    seed = int(seed or time.time_ns() % 1_000_000)
    dice = random.Random(seed)
    print(f"seed {seed}", flush=True)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        make_data(Path(folder), dice)
        found = programs(Path(folder))
        if len(found) < 2:
            return 77
        end = time.monotonic() + float(seconds)
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            while time.monotonic() < end:
                drawn = [(name, found[name], dice.choice((1, 2, 3, 8)), dice.choice((1, 2, 4)))
                         for name in dice.choices(sorted(found), k=AT_A_TIME)]
                for wrong in pool.map(lambda each: one_run(sinew, *each), drawn):
                    passed += not wrong
                    failed += bool(wrong)
                    if wrong:
                        print(wrong, flush=True)
    print(f"of {', '.join(sorted(found))}:")
    print(f"{passed} passed, {failed} failed")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
