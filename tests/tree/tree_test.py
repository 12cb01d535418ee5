# SPDX-License-Identifier: BSD-3-Clause
"""Build trees: configured before and after a Fortran compiler was installed, and used while their
libraries and programs are linked."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def call(*command, **more):
    environment = {n: v for n, v in os.environ.items() if n not in ("FC", "CXX", "CC")}
    return subprocess.run([str(c) for c in command], env={**environment, **more}, text=True,
                          timeout=200, capture_output=True, check=False)


def run(*command, **more):
    done = call(*command, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)

    def test_fortran_that_is_installed_later(self):
        tree = self.place / "tree"
        configure = ["cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", "-D", "BUILD_TESTING=OFF",
                     "-D", "SINEW_INSTALL_MPI_NAMES=OFF"]
        run(*configure, FC="/no/such/compiler")
        self.assertNotIn("/installed/bin", (tree / "abi/mpi/cmake_install.cmake").read_text())
        for name in ("mpi/bin/mpifort", "mpi/bin/mpif90", "mpi/bin/mpif77", "bin/mpifort.sinew"):
            done = call(tree / name, "x.f90", "-o", "x")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, rf"^{Path(name).name}: there was no Fortran compiler .*; "
                             r"install gfortran 12 .* \(make build\)\.\n$")
        if not shutil.which("gfortran"):
            self.skipTest("no gfortran")
        run(*configure)
        self.assertIn("gfortran ", run(tree / "mpi/bin/mpifort", "-show", "x.f90"))
        self.assertIn("libmpifort_abi.so.1", run("ninja", "-C", tree, "-t", "targets", "all"))

    def test_what_is_linked_anew_is_whole_meanwhile(self):
        """A linker whose output is empty at first runs the program of the tree before it links."""
        tree = self.place / "tree"
        codes = self.place / "codes"
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.22)\n"
                   "project(linked LANGUAGES C CXX)\n"
                   f"include({ROOT}/cmake/SinewLink.cmake)\n"
                   "add_library(part SHARED part.cpp)\n"
                   "add_executable(program program.cpp)\n"
                   "target_link_libraries(program part)\n")
        self.write("program.cpp", "int part();\nint main() { return part(); }\n")
        self.write("c++", '#!/bin/sh\ncase " $* " in\n'
                   '*" -c "*) ;;\n'
                   '*) for word; do [ "$before" != -o ] || : > "$word"; before=$word; done\n'
                   f'  {tree}/program; echo $? >> {codes} ;;\n'
                   'esac\n'
                   'exec c++ "$@"\n').chmod(0o755)
        self.write("part.cpp", "int part() { return 3; }\n")
        run("cmake", "-S", self.place, "-B", tree, "-G", "Ninja",
            "-D", f"CMAKE_CXX_COMPILER={self.place}/c++")
        run("ninja", "-C", tree)
        codes.unlink()
        self.write("part.cpp", "int part() { return 5; }\n")
        run("ninja", "-C", tree)
        # The library's link first, then that of the program, which finds the new library.
        self.assertEqual(codes.read_text().split(), ["3", "5"])
        self.assertEqual(call(tree / "program").returncode, 5)

    def write(self, name, text):
        file = self.place / name
        file.write_text(text)
        return file


if __name__ == "__main__":
    unittest.main()
