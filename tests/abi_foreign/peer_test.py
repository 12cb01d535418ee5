# SPDX-License-Identifier: BSD-3-Clause
"""peer_test.py COMPILER SINEW PLACE SOURCE...: programs that another MPI's COMPILER has
made, with its own modules, run on Sinew. Skipped where there is no such compiler, or its MPI lacks
what a program uses."""

import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
LACKS = "this MPI lacks what the program uses"  # an #error of a program


def run(command, where, seconds):
    done = subprocess.run(command, cwd=where, text=True, timeout=seconds, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


def faults_of(source, compiler, sinew, place):
    program = place / source.stem
    options = ["-O1", "-g", "-w"]
    if source.suffix != ".cpp":
        options += ["-fallow-argument-mismatch", "-J", place]
    code, output = run([compiler, *options, source, "-o", program], place, 200)
    if code != 0:
        yield f"{compiler} does not compile {source.name}:\n{output[:2000]}"
        return
    for ranks in (1, 2, 3):
        code, output = run([sinew, "run", "-n", str(ranks), "--timeout", "50", program], place, 60)
        if code != 0 or "good" not in output.splitlines():
            yield f"{source.stem} on {ranks} ranks ended with {code}:\n{output[-2000:]}"


def main():
    name, sinew, place, *sources = sys.argv[1:]
    compiler = shutil.which(name)
    if compiler is None:
        print(f"{name} is not installed: programs of its MPI were not run")
        return SKIPPED
    folder = pathlib.Path(place)
    folder.mkdir(parents=True, exist_ok=True)
    faults = [fault for source in sources
              for fault in faults_of(pathlib.Path(source).resolve(), compiler, sinew, folder)]
    if any(LACKS in fault for fault in faults):
        print(f"{compiler}'s MPI lacks what a program uses")
        return SKIPPED
    print("\n".join(faults) or f"{len(sources)} programs of {compiler} ran on Sinew")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
