# SPDX-License-Identifier: BSD-3-Clause
"""The names people type, mpicc, mpicxx, mpiexec and mpirun: in the build tree SINEW_BUILD and in an
installed one that was moved, by hand and through CMake, meson, autoconf and environment modules."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ["SINEW_BUILD"])


def call(*command, cwd=None, **more):
    environment = {n: v for n, v in os.environ.items()
                   if n not in ("CC", "CXX", "MPI_HOME", "MPICC", "MPICXX", "CMAKE_PREFIX_PATH")}
    environment.update(more)
    return subprocess.run([str(c) for c in command], env=environment, text=True, timeout=400,
                          capture_output=True, check=False, cwd=cwd)


def run(*command, cwd=None, **more):
    done = call(*command, cwd=cwd, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Names:
    """For a folder of names; which one, the classes below say."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = Path(folder.name).resolve()
        cls.place()
        # Nobody else's names on PATH: what is found must be ours.
        others = [p for p in os.environ["PATH"].split(":") if not (Path(p) / "mpicc").exists()
                  or p in ("/usr/bin", "/bin")]
        cls.path = ":".join([str(cls.bin), *others])
        cls.project = cls.work / "project"
        shutil.copytree(HERE / "mpi_project", cls.project)
        shutil.copy(HERE / "consumer" / "hello.c", cls.project / "hello.c")
        shutil.copy(HERE / "consumer" / "hello.c", cls.project / "hello.cpp")
        cls.launches = "mpiexec" in run(cls.root / "bin" / "sinew", "help")

    def needs_launcher(self):
        if not self.launches:
            self.skipTest("this tree's sinew has no command mpiexec")

    def names(self):
        return {"mpicc": "cc", "mpicxx": "c++", "mpic++": "c++", "mpiCC": "c++"}

    def test_version_says_who_it_is_and_then_the_compiler(self):
        for name, compiler in self.names().items():
            out = run(self.bin / name, "--version")
            theirs = run(compiler, "--version")
            with self.subTest(name):
                self.assertTrue(out.startswith(f"{name} of Sinew runs {theirs}"), out)
                self.assertRegex(out.splitlines()[-1], rf"^{name.replace('+', '.')}: Sinew \d")

    def test_help_is_the_compilers_and_then_says_who_it_is(self):
        for name, compiler in self.names().items():
            out = run(self.bin / name, "--help")
            with self.subTest(name):
                self.assertTrue(out.startswith(run(compiler, "--help")))
                self.assertIn(name + " compiles and links MPI programs", out)
                self.assertIn("-showme:link", out)

    def test_questions_about_the_compiler_pass_through(self):
        for question in ("-v", "-dumpversion", "-dumpmachine", "-print-prog-name=ld"):
            ours, theirs = call(self.bin / "mpicc", question), call("cc", question)
            with self.subTest(question):
                self.assertEqual((ours.returncode, ours.stdout), (0, theirs.stdout))

    def test_show(self):
        lib, include = self.root / "lib", self.root / "include"
        link = f"-L{lib} -Wl,-rpath,{lib} -lmpi_abi"
        for words, text in ((["-show", "x.c"], f"cc -I{include} x.c {link}"),
                            (["-show", "-c", "x.c"], f"cc -I{include} -c x.c"),
                            (["-cc=gcc", "-show", "x.o"], f"gcc -I{include} x.o {link}"),
                            (["-compile-info"], f"cc -I{include}"),
                            (["-link-info"], f"cc -I{include} {link}"),
                            (["-showme:compile"], f"-I{include}"),
                            (["-showme:link"], link)):
            with self.subTest(words):
                self.assertEqual(run(self.bin / "mpicc", *words), text + "\n")

    def test_cmake_finds_it_and_ctest_runs(self):
        for how, settings in (("PATH", {"PATH": self.path}),
                              ("MPI_HOME", {"MPI_HOME": str(self.bin.parent)})):
            with self.subTest(how):
                build = self.found_by_cmake(self.bin, how, settings)
        self.needs_launcher()
        run("ctest", "--test-dir", build, "--output-on-failure")

    def found_by_cmake(self, folder, how, settings):
        """The build folder of a project that has found the names in this folder."""
        build = self.work / f"cmake_{how}"
        out = run("cmake", "-S", self.project, "-B", build, "-G", "Ninja", **settings)
        self.assertIn(f"MPIEXEC is {folder}/mpiexec\n", out)
        self.assertIn(f"MPI_C_COMPILER is {folder}/mpicc\n", out)
        run("cmake", "--build", build)
        return build

    @unittest.skipUnless(shutil.which("meson"), "no meson")
    def test_meson(self):
        for more in ({}, {"CC": "mpicc", "CXX": "mpicxx"}):
            with self.subTest(more):
                build = self.work / f"meson_{len(more)}"
                # It believes the pkg-config file of an installed Open MPI before any wrapper.
                run("meson", "setup", build, self.project, PATH=self.path,
                    PKG_CONFIG_LIBDIR=str(self.work), **more)
                run("meson", "compile", "-C", build, PATH=self.path)
                self.started(build / "hello_c")
                self.started(build / "hello_cxx")

    @unittest.skipUnless(shutil.which("autoconf"), "no autoconf")
    def test_autoconf(self):
        run("autoconf", cwd=self.project)
        build = self.work / "autoconf"
        build.mkdir()
        out = run("../project/configure", cwd=build, PATH=self.path)
        self.assertIn(f"{self.bin}/mpiexec", out)
        self.assertRegex(out, "library containing MPI_Init... none required")
        run("make", "hello_c", cwd=build, PATH=self.path)
        self.needs_launcher()
        self.assertIn("rank 1 of 2", run("make", "check", cwd=build, PATH=self.path))

    def started(self, program):
        out = run(self.root / "bin" / "sinew", "run", "-n", "2", program)
        self.assertEqual(sorted(out.split("\n")), ["", "rank 0 of 2", "rank 1 of 2"])

    def test_mpiexec_and_mpirun(self):
        self.needs_launcher()
        run(self.bin / "mpicc", self.project / "hello.c", "-o", self.work / "hello")
        for name in ("mpiexec", "mpirun"):
            for flag in ("-n", "-np"):
                out = run(self.bin / name, flag, "2", self.work / "hello")
                self.assertEqual(sorted(out.split("\n")), ["", "rank 0 of 2", "rank 1 of 2"])

    @unittest.skipUnless(shutil.which("modulecmd"), "no environment modules")
    def test_module_file(self):
        ask = ('eval "$(modulecmd sh use "$1")"; eval "$(modulecmd sh load sinew)"; '
               'for n in mpicc mpicxx mpiexec mpirun sinew; do command -v $n; done; '
               'echo "$MPI_HOME"; pkg-config --cflags sinew-mpi')
        out = run("sh", "-c", ask, "sh", self.modules, MODULEPATH="", LOADEDMODULES="").split("\n")
        self.assertEqual(out[:5], [f"{self.bin}/{n}" for n in ("mpicc", "mpicxx", "mpiexec",
                                                              "mpirun")]
                         + [f"{self.root}/bin/sinew"])
        self.assertEqual(out[5], str(self.bin.parent))
        self.assertEqual(Path(out[6].strip()[2:]).resolve(), (self.root / "include").resolve())


class InBuildTree(Names, unittest.TestCase):
    @classmethod
    def place(cls):
        cls.root = BUILD
        cls.bin = BUILD / "mpi" / "bin"
        cls.modules = BUILD / "mpi" / "modulefiles"


class Installed(Names, unittest.TestCase):
    @classmethod
    def place(cls):
        run("cmake", "--install", BUILD, "--prefix", cls.work / "first")
        cls.root = (cls.work / "first").rename(cls.work / "moved")
        cls.bin = cls.root / "libexec" / "sinew" / "mpi" / "bin"
        cls.modules = cls.root / "share" / "modulefiles"

    def test_prefix_has_the_names_as_those_of_other_mpis(self):
        """The option SINEW_INSTALL_MPI_NAMES is on by default; tests/tree has it off."""
        folder = self.root / "bin"
        self.assertLessEqual({f.name for f in self.bin.iterdir()},
                             {f.name for f in folder.iterdir()})
        self.found_by_cmake(folder, "PREFIX", {"CMAKE_PREFIX_PATH": str(self.root)})
        others = self.path.partition(":")[2]
        self.found_by_cmake(folder, "PREFIX_BIN", {"PATH": f"{folder}:{others}"})
        run(folder / "mpicc", self.project / "hello.c", "-o", self.work / "hello_by_prefix")
        out = run(folder / "mpiexec", "-n", "2", self.work / "hello_by_prefix")
        self.assertEqual(sorted(out.split("\n")), ["", "rank 0 of 2", "rank 1 of 2"])


if __name__ == "__main__":
    unittest.main()
