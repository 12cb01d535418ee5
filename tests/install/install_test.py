# SPDX-License-Identifier: BSD-3-Clause
"""Installs the build tree SINEW_BUILD, moves the result, and uses it as strangers would."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

CONSUMER = Path(__file__).resolve().parent / "consumer"
BUILD = Path(os.environ["SINEW_BUILD"])
# A program of each module that has a package, and what it prints.
MODULES = {"event": "an event has triggered\n", "region": "1 instance\n",
           "route": "64 nodes\n", "multipath": "the message is there\n"}


def run(*command, **more):
    environment = dict(os.environ, **more)
    done = subprocess.run([str(c) for c in command], env=environment, text=True, timeout=400,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout
PLUGINS = ("libsinew_ucx.so", "libsinew_stacks.so")


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = Path(cls.folder.name)
        run("cmake", "--install", BUILD, "--prefix", cls.work / "first")
        # Nothing may remember where it was installed.
        cls.prefix = (cls.work / "first").rename(cls.work / "moved")

    def test_cmake_package(self):
        build = self.work / "consumer"
        run("cmake", "-S", CONSUMER, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertRegex(run(build / "consumer"), r"^\d+ processors\n$")

    def test_libraries_have_so_names_with_versions(self):
        """All but plugins, which are opened by their files' names."""
        names = []
        for file in sorted((self.prefix / "lib").rglob("lib*.so*")):
            if not file.is_symlink() and file.name not in PLUGINS:
                found = re.search(r"\(SONAME\).*\[(.+)\]", run("readelf", "-d", file))
                self.assertEqual(found and found[1], file.name)
                self.assertRegex(file.name, r"\.so\.\d+$")
                names.append(file.name)
        self.assertLessEqual({"libsinew.so.0", "libmpi_abi.so.1", "libcaf_sinew.so.0"}, set(names))

    def test_uninstall_leaves_what_others_put_there(self):
        prefix = self.work / "uninstalled"
        run("cmake", "--install", BUILD, "--prefix", prefix)
        (prefix / "bin" / "theirs").touch()
        rule = CONSUMER.parents[2] / "cmake" / "SinewUninstall.cmake"
        run("cmake", f"-DPREFIX={prefix}", "-P", rule)
        self.assertEqual([p.relative_to(prefix).as_posix() for p in sorted(prefix.rglob("*"))],
                         ["bin", "bin/theirs"])
        with self.assertRaisesRegex(AssertionError, "name the prefix"):
            run("cmake", f"-DPREFIX={prefix}", "-P", rule)

    def test_headers_name_no_build_tree(self):
        for file in self.prefix.rglob("*.cmake"):
            text = file.read_text()
            self.assertNotIn(str(BUILD), text, file)
            self.assertNotIn(str(CONSUMER.parents[2] / "src"), text, file)

    def test_archives_hold_what_every_linker_reads(self):
        archives = sorted((self.prefix / "lib").glob("libsinew_*.a"))
        self.assertIn("libsinew_fabric.a", [a.name for a in archives])
        for archive in archives:
            self.assertNotIn(".gnu.lto", run("objdump", "-h", archive), archive)

    def hello(self, *compile_command, flags=()):
        program = self.work / "hello"
        run(*compile_command, CONSUMER / "hello.c", "-o", program, *flags)
        out = run(self.prefix / "bin" / "sinew", "run", "-n", "2", program)
        self.assertEqual(sorted(out.split("\n")), ["", "rank 0 of 2", "rank 1 of 2"])

    def test_wrapper_compiles_and_launcher_starts(self):
        self.hello(self.prefix / "bin" / "mpicc.sinew")

    def test_program_that_does_not_know_where_the_library_is(self):
        self.hello("cc", f"-I{self.prefix}/include",
                   flags=(f"-L{self.prefix}/lib", "-lmpi_abi"))

    def test_pkg_config(self):
        path = str(self.prefix / "lib" / "pkgconfig")
        flags = run("pkg-config", "--cflags", "--libs", "sinew-mpi", PKG_CONFIG_PATH=path).split()
        self.hello("cc", flags=flags)

    def fibers(self, *compile_command, flags=()):
        program = self.work / "fibers"
        run(*compile_command, CONSUMER / "fibers.c", "-o", program, *flags)
        self.assertEqual(run(program), "a fiber has run\n")

    def test_fibers_by_pkg_config(self):
        path = str(self.prefix / "lib" / "pkgconfig")
        flags = run("pkg-config", "--cflags", "--libs", "sinew", PKG_CONFIG_PATH=path).split()
        self.fibers("cc", flags=flags)

    def test_fibers_by_the_wrapper(self):
        self.fibers(self.prefix / "bin" / "mpicc.sinew", flags=("-lsinew",))

    def test_fibers_by_cmake(self):
        build = self.work / "fibers_consumer"
        run("cmake", "-S", CONSUMER, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertEqual(run(build / "fibers"), "a fiber has run\n")

    def test_modules_by_cmake(self):
        build = self.work / "modules_consumer"
        run("cmake", "-S", CONSUMER, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        for name, line in MODULES.items():
            with self.subTest(name):
                self.assertEqual(run(build / name), line)

    def over_two_nodes(self, program):
        """Two ranks on a node each, as pretended: they load the network's plugin."""
        return (self.prefix / "bin" / "sinew", "run", "-n", "2", "--timeout", "50", "env", "-u",
                "LD_LIBRARY_PATH", "SINEW_FABRIC_NODES=2", program)

    @unittest.skipUnless((BUILD / "lib" / "libsinew_ucx.so").exists(), "without UCX")
    def test_programs_elsewhere_find_the_plugin(self):
        build = self.work / "far_consumer"
        run("cmake", "-S", CONSUMER, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build, "--target", "region")
        program = build / "region"
        self.assertEqual(run(*self.over_two_nodes(program)), MODULES["region"] * 2)
        # Without a run path the launcher's own folder has it, and else the setting names it.
        flags = run("pkg-config", "--cflags", "--libs", "sinew-region",
                    PKG_CONFIG_PATH=str(self.prefix / "lib" / "pkgconfig")).split()
        program = self.work / "bare"
        run("c++", "-std=c++20", CONSUMER / "region.cpp", "-o", program,
            *(flag for flag in flags if "-rpath" not in flag))
        command = self.over_two_nodes(program)
        without_removal = [word for word in command if word not in ("-u", "LD_LIBRARY_PATH")]
        self.assertEqual(run(*without_removal), MODULES["region"] * 2)
        plugin = self.prefix / "lib" / "libsinew_ucx.so"
        self.assertEqual(run(*command, SINEW_NET_PLUGIN=str(plugin)), MODULES["region"] * 2)
        with self.assertRaisesRegex(AssertionError, "cannot load the plugin.*SINEW_NET_PLUGIN="):
            run(*command)

    def test_modules_by_pkg_config(self):
        for tree in (self.prefix, BUILD):
            path = str(tree / "lib" / "pkgconfig")
            for name, line in MODULES.items():
                with self.subTest(name, tree=tree):
                    flags = run("pkg-config", "--cflags", "--libs", f"sinew-{name}",
                                PKG_CONFIG_PATH=path).split()
                    program = self.work / name
                    run("c++", "-std=c++20", CONSUMER / f"{name}.cpp", "-o", program, *flags)
                    self.assertEqual(run(program), line)

    def test_pkg_config_names_folders_that_exist(self):
        for tree in (self.prefix, BUILD):
            files = sorted((tree / "lib" / "pkgconfig").glob("*.pc"), key=lambda f: f.stem)
            fortran = (tree / "lib" / "libmpifort_abi.so").exists()
            self.assertEqual([f.stem for f in files],
                             ["sinew", "sinew-event", "sinew-job-c", "sinew-mpi",
                              *(["sinew-mpi-fortran"] if fortran else []), "sinew-multipath",
                              "sinew-region", "sinew-route", "sinew-route-c"])
            for file in files:
                flags = run("pkg-config", "--cflags", "--libs", file.stem,
                            PKG_CONFIG_PATH=str(file.parent)).split()
                folders = [f[2:] for f in flags if f[:2] in ("-I", "-L")]
                self.assertGreaterEqual(len(folders), 2)
                for folder in folders:
                    self.assertTrue(Path(folder).is_dir(), f"{file}: {folder}")

    def test_examples_are_there_and_build(self):
        examples = self.prefix / "share" / "doc" / "sinew" / "examples"
        source = {p.name for p in (CONSUMER.parents[2] / "examples").iterdir()}
        self.assertEqual({p.name for p in examples.iterdir()}, source)
        build = self.work / "examples"
        run("cmake", "-S", examples, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        programs = {p.stem for p in examples.glob("*.cpp")} - {"fibers"}
        self.assertIn("histogram", programs)
        for program in sorted(programs | {"fibers_c", "fibers_cpp"}):
            run(self.prefix / "bin" / "sinew", "run", "-n", "2", "--timeout", "50",
                build / program)

    @unittest.skipUnless(shutil.which("gfortran"), "no gfortran")
    def test_fortran_examples_build(self):
        examples = self.prefix / "share" / "doc" / "sinew" / "examples"
        for file in sorted(examples.glob("*.f90")):
            program = self.work / file.stem
            wrapper = "mpifort.sinew" if "use mpi" in file.read_text() else "caf.sinew"
            run(self.prefix / "bin" / wrapper, "-O2", file, "-o", program)
            run(self.prefix / "bin" / "sinew", "run", "-n", "2", "--timeout", "50", program)

    def test_pages_are_there_and_their_links_lead_somewhere(self):
        pages = self.prefix / "share" / "doc" / "sinew"
        for folder in ("start", "guide", "reference"):
            for page in sorted((pages / "docs" / folder).glob("*.md")):
                for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
                    self.assertTrue((page.parent / target).exists(), f"{page}: {target}")
        self.assertTrue((pages / "README.md").exists())
        self.assertTrue((pages / "docs" / "guide" / "events.md").exists())

    def test_manual_pages_and_completion_are_there(self):
        share = self.prefix / "share"
        sinew = self.prefix / "bin" / "sinew"
        for place, words in (("man/man1/sinew.1", ("--man",)),
                             ("man/man1/sinew-run.1", ("--man", "run")),
                             ("bash-completion/completions/sinew", ("--completion", "bash")),
                             ("zsh/site-functions/_sinew", ("--completion", "zsh"))):
            self.assertEqual((share / place).read_text(), run(sinew, "help", *words))
        if shutil.which("man"):
            self.assertIn("--timeout", run("man", "-M", share / "man", "-P", "cat", "sinew-run",
                                           MANWIDTH="100", LC_ALL="C.UTF-8"))

    def bench(self, *words):
        """What `sinew bench` of the installed tree writes; it compiles peers into an own cache."""
        file = self.work / "bench.json"
        run(self.prefix / "bin" / "sinew", "bench", *words, "--quick", "--json", file,
            XDG_CACHE_HOME=str(self.work / "cache"))
        return json.loads(file.read_text())

    def test_bench_threads(self):
        result = self.bench("threads", "--peers", "none")
        measured = {(r["case"], r["subject"]) for r in result["results"]}
        for case in ("switch", "yield", "signal", "round-trip", "spawn-join"):
            self.assertIn((case, "sinew"), measured)
        self.assertTrue(all(r["median"] > 0 for r in result["results"]))

    @unittest.skipUnless(Path("/usr/include/concurrentqueue/concurrentqueue.h").exists()
                         and shutil.which("dpkg-query"), "no peer from a Debian package")
    def test_bench_compiles_a_peer_and_tells_its_version(self):
        result = self.bench("pool", "--peers", "moodycamel")
        self.assertEqual({r["subject"].split(":")[0] for r in result["results"]} - {"paper"},
                         {"sinew", "floor", "moodycamel"})
        self.assertRegex(result["host"]["peers"]["moodycamel"], r"^\d+\.\d+")


if __name__ == "__main__":
    unittest.main()
