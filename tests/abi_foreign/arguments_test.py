#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""arguments_test.py LIBRARY FOLDER FILE CC CXX [HEADERS]: calls every generated function of the
library for programs of another MPI (LIBRARY is mpich or openmpi, FILE where it is), and compares
what arrives at the standard's function beneath and what comes back with what the standard's data
and argument_values.tsv say. HEADERS is where that MPI's own mpi.h is: what it declares is called;
without it our header is used. Exit code 77 without pympistandard."""

import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for place in ("abi/foreign/generate", "abi/mpi/generate"):
    sys.path.insert(0, str(ROOT / place))
SHOWN = 20  # differences


def agrees(wanted, got, values):
    """Of one word: "~kind" is whatever no constant of the kind is, "^error" one of the classes."""
    if wanted.startswith("~"):
        kind, number = wanted[1:], re.fullmatch(r"-?\d+", got)
        if number is None:
            return False
        if kind in ("access", "assert"):
            return int(got) & ~sum(values.standard[kind]) != 0
        return int(got) not in values.standard[kind]
    if wanted.startswith("^"):
        return got != "0" and int(got) in {v.foreign for v in values.kinds[wanted[1:]]}
    return wanted == got


def words(line):
    return re.split(r"([ ,=])", line)


def same(wanted, got, values):
    one, other = words(wanted), words(got)
    return len(one) == len(other) and all(agrees(w, g, values) for w, g in zip(one, other))


def compared(calls, output, values):
    """The lines that differ."""
    wanted = [(call, line) for call in calls for line in call.expected() if line]
    got = [line for line in output.split("\n") if line]
    differ = [f"{call.function.name}, call {call.turn + 1}: expected\n  {line}\ngot\n  {other}"
              for (call, line), other in zip(wanted, got) if not same(line, other, values)]
    if len(wanted) != len(got):
        differ.append(f"{len(wanted)} lines expected, {len(got)} got; the last is\n  {got[-1:]}")
    return differ


def build(folder, include, file, compilers):
    """The stand-in has the real library's name, so it is loaded in its stead."""
    standin, (cc, cxx) = folder / "libmpi_abi.so.1", compilers
    for command in (
            [cxx, "-std=c++20", "-w", "-O0", "-shared", "-fPIC", "-fvisibility=hidden",
             "-DSINEW_MPI_TYPES_ONLY", f"-I{ROOT}", f"-I{ROOT / 'include'}",
             folder / "recorder.cpp", f"-Wl,-soname,{standin.name}", "-o", standin],
            [cc, "-w", "-O0", f"-I{include}", folder / "program.c", file, standin,
             f"-Wl,-rpath,{file.parent}:{folder}", "-o", folder / "program"]):
        subprocess.run([str(word) for word in command], check=True)


def main():
    try:
        import pympistandard  # noqa: F401
    except ImportError:
        print("pympistandard cannot be imported: nothing was called")
        return 77
    import argument_values
    import arguments_program
    import arguments_recorder
    import forward
    import model
    library, folder, file = sys.argv[1], *(pathlib.Path(word).resolve() for word in sys.argv[2:4])
    include = ROOT / "abi/foreign/generated" / library
    if len(sys.argv) > 6:
        include = pathlib.Path(sys.argv[6]).resolve()
    header = "".join(path.read_text(errors="replace") for path in include.rglob("mpi*.h"))
    declared = set(re.findall(r"\w+", header)) - set(re.findall(r"# *define +(\w+)\(", header))
    known = [f for pair in model.procedures() for f in (pair.small, pair.large)
             if f and forward.is_generated(f)]
    functions = [f for f in known if f.name in declared]
    values = argument_values.Values(library, declared.__contains__)
    program, calls = arguments_program.make(functions, values)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recorder.cpp").write_text(arguments_recorder.source(known))
    (folder / "program.c").write_text(program)
    build(folder, include, file, sys.argv[4:6])
    ran = subprocess.run([folder / "program"], capture_output=True, text=True, timeout=60)
    differ = compared(calls, ran.stdout, values)
    if ran.returncode != 0:
        differ.append(f"the program ended with {ran.returncode}: {ran.stderr[-2000:]}")
    if arguments_program.MPICH_POISON in ran.stderr:
        differ.append("a handle behind the end of an array has been looked at")
    if len(functions) < (600 if len(sys.argv) == 6 else 330):
        differ.append("these are too few functions: their choice is broken")
    print(f"{library}: {len(functions)} functions, {len(calls)} calls, {len(differ)} differences")
    print("\n".join(differ[:SHOWN]))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
