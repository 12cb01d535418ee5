# SPDX-License-Identifier: BSD-3-Clause
"""Makes allocations of a job fail, one in each run: every run ends in a result or in a sentence.

Called with the launcher, the preloaded library and name=program pairs. A sample by default, so that
it takes about a minute; SINEW_TEST_EVERY_ALLOCATION=1 tries each. SINEW_TEST_SEED chooses another
sample. SINEW_TEST_ONLY=mpi,event names jobs.
"""
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile
import time

SECONDS_FOR_ALL = 45
LIMIT = 20
OWN_CODE = ("event", "region")  # programs with the library inside


def run(launcher, library, name, program, rank, at, on, report=None):
    env = ["env", f"LD_PRELOAD={library}", f"EXHAUST_RANK={rank}", f"EXHAUST_AT={at}"]
    env += ["EXHAUST_ON=1"] if on else []
    env += ["EXHAUST_PROGRAM=1"] if name in OWN_CODE else []
    env += [f"EXHAUST_REPORT={report}"] if report else []
    try:
        done = subprocess.run([launcher, "run", "-n", "2", "--timeout", str(LIMIT), *env, program],
                              capture_output=True, text=True, errors="replace", timeout=3 * LIMIT)
    except subprocess.TimeoutExpired:
        return 124, "", "the launcher itself hangs"
    return done.returncode, done.stdout, done.stderr


def fault(code, out, err):
    """What is wrong with this end, or None."""
    if code == 124:
        return "hangs"
    uncaught = "an exception ends rank" in err  # the code is abort()'s, but nothing crashed
    if (code >= 128 and not uncaught) or code < 0 or "crashed on" in err:
        return "ends by a signal"
    if "terminate called" in err:
        return "an exception has escaped"
    if code == 0 and out.strip() != "good":
        return "ends with 0 and without its result"
    said = [line for line in err.splitlines() if len(line.split()) >= 4]
    if code != 0 and not said:
        return "ends with a code and no sentence"
    return None


def count(launcher, library, name, program, rank):
    with tempfile.TemporaryDirectory() as place:
        report = os.path.join(place, "count")
        code, out, err = run(launcher, library, name, program, rank, 0, False, report)
        if fault(code, out, err) or code != 0:
            sys.exit(f"{name}: fails without a failing allocation: {code} {out}{err}")
        with open(report, encoding="ascii") as file:
            return int(file.read())


def main():
    launcher, library, *pairs = sys.argv[1:]
    seed = int(os.environ.get("SINEW_TEST_SEED") or random.randrange(10**9))
    only = os.environ.get("SINEW_TEST_ONLY", "").split(",")
    every = os.environ.get("SINEW_TEST_EVERY_ALLOCATION")
    print(f"SINEW_TEST_SEED={seed}", flush=True)
    cases = []
    for pair in pairs:
        name, program = pair.split("=", 1)
        if only != [""] and name not in only:
            continue
        for rank in (0, 1):
            total = count(launcher, library, name, program, rank)
            print(f"{name}: rank {rank} makes {total} allocations", flush=True)
            if total < 20:
                sys.exit(f"{name}: so few cannot be right")
            cases += [(name, program, rank, at, on)
                      for at in range(1, total + 1) for on in (False, True)]
    if not every:
        random.Random(seed).shuffle(cases)
    end = time.monotonic() + (10**6 if every else SECONDS_FOR_ALL)
    tried = 0
    bad = []

    def attempt(case):
        if time.monotonic() > end:
            return None
        name, program, rank, at, on = case
        ended = run(launcher, library, name, program, rank, at, on)
        return case, ended, fault(*ended)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as workers:
        for result in workers.map(attempt, cases):
            if result is None:
                continue
            tried += 1
            (name, _, rank, at, on), (code, out, err), wrong = result
            if wrong:
                bad.append(f"{name}: allocation {at}{' and all later ones' if on else ''} "
                           f"of rank {rank} fails, and the job {wrong} ({code})")
                print(f"{bad[-1]}\n{out}{err[:3000]}", flush=True)
    print(f"{tried} of {len(cases)} failures tried, {len(bad)} of them end badly")
    for line in bad:
        print(" ", line)
    return 1 if bad or tried < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
