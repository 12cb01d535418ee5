# SPDX-License-Identifier: BSD-3-Clause
"""mpifort.sinew: its options, what is refused at compile time, and CMake's FindMPI for Fortran.

usage: wrapper_test.py MPIFORT NAMES (the folder with mpifort, mpif90, mpif77, mpiexec)
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

MPIFORT = sys.argv[1]
NAMES = pathlib.Path(sys.argv[2])
ROOT = NAMES.parents[1]

CMAKE = """\
cmake_minimum_required(VERSION 3.18)
project(stranger Fortran)
find_package(MPI REQUIRED COMPONENTS Fortran)
foreach(form F77 F90 F08)
  if(NOT MPI_Fortran_HAVE_${form}_MODULE AND NOT MPI_Fortran_HAVE_${form}_HEADER)
    message(FATAL_ERROR "no ${form}")
  endif()
endforeach()
if(NOT MPI_Fortran_VERSION VERSION_EQUAL 5.0)
  message(FATAL_ERROR "version ${MPI_Fortran_VERSION}")
endif()
add_executable(hello hello.f90)
target_link_libraries(hello MPI::MPI_Fortran)
"""

HELLO = """\
program hello
  use mpi_f08
  integer :: rank
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  print '(a,i0)', 'rank ', rank
  call MPI_Finalize()
end program
"""

# Statement after `use`, what the compiler must say.
REFUSED = [
    ("use mpi_f08", "call MPI_Send(1.0, 1, MPI_REAL, '0', 0, MPI_COMM_WORLD)", "no specific sub"),
    ("use mpi_f08", "call MPI_Comm_size(1, n)", "comm"),
    ("use mpi_f08", "call MPI_Get_processor_name(short, n)", "name"),
    ("use mpi", "call MPI_Comm_size(MPI_COMM_WORLD, 1.5, n)", "size"),
    ("use mpi", "call MPI_Send(1.0, 1, MPI_REAL, 0, 0, MPI_COMM_WORLD)", "ierror"),
]


def run(*words, **how):
    environment = {n: v for n, v in os.environ.items() if n not in ("MPIFORT_FC", "SINEW_FC", "FC")}
    environment.update(how.pop("more", {}))
    return subprocess.run([str(w) for w in words], env=environment, capture_output=True, text=True,
                          timeout=90, check=False, **how)


class Wrapper(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.work / name).write_text(text)
        return self.work / name

    def test_show(self):
        lib, include = ROOT / "lib", ROOT / "include"
        compile_flags = f"-I{include} -I{include}/mpi-fortran"
        link = f"-L{lib} -Wl,-rpath,{lib} -lmpifort_abi -lmpi_abi"
        for name in ("mpifort", "mpif90", "mpif77"):
            with self.subTest(name):
                self.assertEqual(run(NAMES / name, "-showme:compile").stdout, compile_flags + "\n")
                self.assertEqual(run(NAMES / name, "-showme:link").stdout, link + "\n")
                self.assertEqual(run(NAMES / name, "-show", "a.f90").stdout,
                                 f"gfortran {compile_flags} a.f90 {link}\n")
        self.assertEqual(run(MPIFORT, "-showme:libs").stdout, "mpifort_abi mpi_abi\n")

    def test_long_integers_are_refused(self):
        source = self.write("a.f90", HELLO)
        told = run(MPIFORT, "-fdefault-integer-8", source, "-o", self.work / "a")
        self.assertEqual(told.returncode, 1)
        self.assertIn("-fdefault-integer-8 makes INTEGERs longer", told.stderr)
        old = self.write("b.f90", "include 'mpif.h'\nend\n")
        told = run("gfortran", "-fdefault-integer-8", f"-I{ROOT}/include/mpi-fortran", old, "-c",
                   cwd=self.work)
        self.assertIn("INTEGER(8)", told.stderr)
        # A program may call its variables as the language's functions are called.
        old = self.write("c.f90", "include 'mpif.h'\ninteger :: max, kind, merge\nmax = 1\n"
                                  "kind = 2\nmerge = max + kind\nend\n")
        told = run(MPIFORT, "-c", old, cwd=self.work)
        self.assertEqual(told.returncode, 0, told.stderr)

    def test_wrong_arguments_are_told_at_compile_time(self):
        for use, statement, word in REFUSED:
            with self.subTest(statement):
                source = self.write("a.f90", f"{use}\ninteger :: n\ncharacter(3) :: short\n"
                                             f"{statement}\nend\n")
                told = run(MPIFORT, "-c", source, "-o", self.work / "a.o")
                self.assertNotEqual(told.returncode, 0)
                self.assertIn(word, told.stderr)

    def test_vector_subscripts_of_nonblocking_calls_are_refused(self):
        source = self.write("a.f90", """\
use mpi_f08
integer :: a(5), v(2) = [1, 3]
type(MPI_Request) :: r
call MPI_Irecv(a(v), 2, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, r)
end
""")
        self.assertNotEqual(run(MPIFORT, "-c", source, "-o", self.work / "a.o").returncode, 0)

    def test_modules_are_made_for_another_compiler(self):
        # It says that it is gfortran 15, whose module files are others.
        other = self.write("other", '#!/bin/sh\\n[ "$1" != -dumpversion ] || { echo 15; exit; }\\n'
                                    'exec gfortran "$@"\\n'.replace("\\n", "\n"))
        other.chmod(0o755)
        source = self.write("a.f90", HELLO)
        for _ in range(2):
            done = run(MPIFORT, source, "-o", self.work / "a",
                       more={"MPIFORT_FC": str(other), "XDG_CACHE_HOME": str(self.work / "cache")},
                       cwd=self.work)
            self.assertEqual(done.returncode, 0, done.stderr)
        made = list((self.work / "cache/sinew").glob("*/gfortran-mod-16/mpi_f08.mod"))
        self.assertEqual(len(made), 1)
        self.assertEqual(run(self.work / "a").stdout, "rank 0\n")

    def test_options_of_default_reals_have_modules_of_their_own(self):
        source = self.write("a.f90", "use mpi_f08\nprint '(i0)', MPI_REAL%MPI_VAL\nend\n")
        for options, value in (((), "538"), (("-fdefault-real-8",), "730"),
                               (("-fdefault-real-8", "-fdefault-double-8"), "730")):
            with self.subTest(options):
                done = run(MPIFORT, *options, source, "-o", self.work / "a", cwd=self.work,
                           more={"XDG_CACHE_HOME": str(self.work / "cache")})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(run(self.work / "a").stdout, value + "\n")
                old = self.write("b.f90", "include 'mpif.h'\nprint '(i0)', MPI_REAL, &\n"
                                          "MPI_DOUBLE_PRECISION\nend\n")
                done = run(MPIFORT, *options, old, "-o", self.work / "b", cwd=self.work,
                           more={"XDG_CACHE_HOME": str(self.work / "cache")})
                self.assertEqual(done.returncode, 0, done.stderr)
                double = "738" if options == ("-fdefault-real-8",) else "540"
                self.assertEqual(run(self.work / "b").stdout, f"{value}\n{double}\n")
        self.assertEqual(len(list((self.work / "cache/sinew").glob("*/gfortran*"))), 2)

    def test_one_folder_has_all(self):
        # What configure scripts want for --with-mpi-dir.
        self.assertTrue((NAMES.parent / "include/mpi.h").exists())
        self.assertTrue((NAMES.parent / "lib/libmpi_abi.so.1").exists())

    def test_a_library_that_cannot_be_told_of_fortran(self):
        # libmpi_abi without the functions that say what Fortran's LOGICALs are.
        names = [n for n in run("nm", "-D", "--undefined-only", ROOT / "lib/libmpifort_abi.so.1")
                 .stdout.split() if n.startswith(("MPI_", "PMPI_"))]
        stub = "".join(f"int {n}(void) {{ return 0; }}\n" for n in names
                       if "fortran_booleans" not in n)
        self.write("stub.c", stub)
        done = run("cc", "-shared", "-fPIC", "-o", "libmpi_abi.so.1", "stub.c", cwd=self.work)
        self.assertEqual(done.returncode, 0, done.stderr)
        source = self.write("a.f90", "use mpi_f08\ncall MPI_Init()\nend\n")
        run(MPIFORT, source, "-o", self.work / "a", cwd=self.work)
        told = run(self.work / "a", more={
            "LD_LIBRARY_PATH": f"{self.work}", "LD_PRELOAD": f"{self.work}/libmpi_abi.so.1"})
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("no MPI_Abi_set_fortran_booleans", told.stderr)

    @unittest.skipUnless(shutil.which("meson"), "no meson")
    def test_meson_finds_it(self):
        self.write("meson.build", "project('stranger', 'fortran')\n"
                                  "executable('hello', 'hello.f90',\n"
                                  "  dependencies: dependency('mpi', language: 'fortran'))\n")
        self.write("hello.f90", HELLO)
        # meson believes the pkg-config file of an Open MPI that is installed before any wrapper.
        more = {"PATH": f"{NAMES}:{os.environ['PATH']}", "PKG_CONFIG_LIBDIR": str(self.work)}
        for words in (("meson", "setup", "build"), ("meson", "compile", "-C", "build")):
            done = run(*words, cwd=self.work, more=more)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(run(self.work / "build/hello").stdout, "rank 0\n")

    def test_cmake_finds_all_three(self):
        self.write("CMakeLists.txt", CMAKE)
        self.write("hello.f90", HELLO)
        more = {"PATH": f"{NAMES}:{os.environ['PATH']}"}
        for words in (("cmake", "-S", ".", "-B", "build"), ("cmake", "--build", "build")):
            done = run(*words, cwd=self.work, more=more)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        told = run(NAMES / "mpiexec", "-n", "2", self.work / "build/hello").stdout
        self.assertEqual(sorted(told.split("\n")), ["", "rank 0", "rank 1"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
