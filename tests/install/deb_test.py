# SPDX-License-Identifier: BSD-3-Clause
"""Makes Debian packages of the build tree SINEW_BUILD, looks into them and runs programs with what
they hold; for `make check-long` it also installs, upgrades and removes them, in a copy of this
system that is gone afterwards."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
BUILD = Path(os.environ["SINEW_BUILD"])
MOST_KIB = 20 * 1024
LAUNCHED = ["rank 0 of 2", "rank 1 of 2"]


def call(*command, **more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SINEW_", "LD_"))}
    return subprocess.run([str(c) for c in command], env={**environment, **more}, text=True,
                          timeout=400, capture_output=True, check=False)


def run(*command, **more):
    done = call(*command, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def made(tool, folder):
    """The packages by name, compressed little: that would take most of the time."""
    written = run(tool, BUILD, folder, DPKG_DEB_COMPRESSOR_TYPE="gzip",
                  DPKG_DEB_COMPRESSOR_LEVEL="1")
    files = map(Path, written.split())
    return {file.name.split("_")[0]: file for file in files}


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("dpkg-deb", "dh"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"there is no {tool} (./bootstrap --dev)")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = Path(folder.name)
        cls.files = made(TREE / "tools/deb", cls.work / "dist")


class Unpacked(Packages):
    """All three below one folder: nothing there may need to be installed."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.root = cls.work / "root"
        for file in cls.files.values():
            run("dpkg-deb", "-x", file, cls.root)

    def names(self, package):
        return [line.split()[5] for line in run("dpkg-deb", "-c", self.files[package]).splitlines()]

    def field(self, package, name):
        return run("dpkg-deb", "-f", self.files[package], name).strip()

    def test_each_file_is_where_it_is_looked_for(self):
        self.assertEqual(sorted(self.files), ["libsinew-dev", "sinew", "sinew-doc"])
        for package, has, lacks in (
                ("sinew", ("/usr/bin/sinew$", r"/usr/bin/mpiexec\.sinew$", r"/libmpi_abi\.so\.1$",
                           r"/man1/sinew\.1\.gz$"),
                 r"\.a$|\.so$(?<!libsinew_ucx\.so)(?<!libsinew_stacks\.so)|\.h(pp)?$|mpicc"),
                ("libsinew-dev", (r"/usr/bin/mpicc\.sinew$", "/sinew/bin/mpicc$",
                                  r"/usr/bin/caf\.sinew$", r"/include/mpi\.h$",
                                  r"/pkgconfig/sinew-mpi\.pc$", r"/libsinew_event\.a$",
                                  r"/cmake/Sinew/SinewConfig\.cmake$"),
                 r"\.so\.\d|/bin/sinew$"),
                ("sinew-doc", (r"/docs/guide/README\.md$", r"/examples/mpi_ring\.c$"),
                 r"/lib/|/bin/")):
            names = self.names(package)
            for pattern in has:
                self.assertTrue([n for n in names if re.search(pattern, n)], pattern)
            self.assertEqual([n for n in names if re.search(lacks, n)], [], package)

    def test_run_time_is_small_and_names_what_it_needs(self):
        self.assertLessEqual(int(self.field("sinew", "Installed-Size")), MOST_KIB)
        needed = self.field("sinew", "Depends")
        for library in ("libc6 (>= 2", "libhwloc15", "libstdc++6"):
            self.assertIn(library, needed)
        version = self.field("sinew", "Version")
        self.assertIn(f"sinew (= {version})", self.field("libsinew-dev", "Depends"))
        if (BUILD / "lib/libsinew_ucx.so").exists():
            self.assertIn("libucx0", self.field("sinew", "Recommends"))
        if (BUILD / "lib/libsinew_stacks.so").exists():
            self.assertIn("libdw1", self.field("sinew", "Recommends"))

    def test_links_lead_into_the_packages(self):
        broken = [p for p in self.root.rglob("*") if p.is_symlink() and not p.exists()]
        self.assertEqual(broken, [])
        libraries = [p for p in (self.root / "usr/lib").glob("*/lib*.so.*") if p.is_symlink()]
        self.assertIn("libmpi_abi.so.1", [p.name for p in libraries])

    def test_programs_run_from_there(self):
        program = self.work / "hello"
        run(self.root / "usr/bin/mpicc.sinew", HERE / "consumer/hello.c", "-o", program)
        out = run(self.root / "usr/bin/mpiexec.sinew", "-n", "2", program)
        self.assertEqual(sorted(out.splitlines()), LAUNCHED)
        if shutil.which("gfortran"):
            run(self.root / "usr/bin/mpifort.sinew", TREE / "examples/ring.f90", "-o", program)
            run(self.root / "usr/bin/sinew", "run", "-n", "2", program)

    def test_files_for_other_builds_name_the_place(self):
        """As they will be found: below / when the packages are installed."""
        lib, = (self.root / "usr/lib").glob("*-linux-gnu*")
        flags = run("pkg-config", "--cflags", "--libs", "sinew-mpi",
                    PKG_CONFIG_PATH=str(lib / "pkgconfig")).split()
        for flag in flags:
            if flag[:2] in ("-I", "-L"):
                self.assertTrue((self.root / flag[3:]).is_dir(), flag)
        named = re.search(r"include\(/(.+)\)", (lib / "cmake/Sinew/SinewConfig.cmake").read_text())
        self.assertTrue((self.root / named[1]).exists(), named[0])


class Installed(Packages):
    """By dpkg, in an overlay over this system's root, in a namespace of its own."""

    def inside(self, *lines):
        """Runs the lines in the copy, in a folder with the packages: dist, and next."""
        place = self.work / "system"
        layers = f"lowerdir=/,upperdir={place}/upper,workdir={place}/scratch"
        inner = "; ".join(("set -e", "cd /opt", *lines))
        script = f"""set -e
            mkdir {place}
            mount -t tmpfs none {place}
            mkdir {place}/upper {place}/scratch {place}/all
            mount -t overlay overlay -o {layers} {place}/all
            mount --rbind /dev {place}/all/dev
            mount -t proc proc {place}/all/proc
            cp -r {self.work}/dist {self.work}/next {HERE}/consumer/hello.c {place}/all/opt
            chroot {place}/all sh -c '{inner}'"""
        return run("unshare", "--mount", "--pid", "--fork", "sh", "-c", script,
                   DEBIAN_FRONTEND="noninteractive", LC_ALL="C.UTF-8", HOME="/")

    def setUp(self):
        if os.geteuid() != 0 or call("unshare", "--mount", "true").returncode != 0:
            self.skipTest("a copy of the system needs root's rights")

    def next_version(self):
        """The packages once more, with an entry in front of the changelog."""
        tree = self.work / "tree"
        shutil.copytree(TREE / "packaging/debian", tree / "packaging/debian")
        changelog = tree / "packaging/debian/changelog"
        text = changelog.read_text()
        entry = text[: text.index("\n -- ")] + text[text.index("\n -- "):].split("\n\n")[0]
        version = re.search(r"\((.+)-1\)", text)[1]
        changelog.write_text(entry.replace(f"({version}-1)", f"({version}-2)") + "\n\n" + text)
        (tree / "tools").mkdir()
        return made(shutil.copy(TREE / "tools/deb", tree / "tools"), self.work / "next")

    def test_install_upgrade_and_remove(self):
        self.assertEqual(sorted(self.next_version()), sorted(self.files))
        names = "find /usr /etc /var -xdev -ipath \"*sinew*\" | sort"
        out = self.inside(
            f"{names} > before",
            "dpkg --install dist/*.deb > /dev/null",
            "update-alternatives --set mpi /usr/bin/mpicc.sinew > /dev/null",
            "update-alternatives --set mpirun /usr/bin/mpirun.sinew > /dev/null",
            "mpicc hello.c -o hello",
            "cc hello.c -o by_pkg_config $(pkg-config --cflags --libs mpi)",
            "mpirun -n 2 ./hello",
            "mpiexec -n 1 ./by_pkg_config",
            "dpkg --install next/*.deb > /dev/null",
            "dpkg-query -W -f \"\\${Version}\\n\" sinew",
            "mpirun -n 2 ./hello",  # which was linked before
            "dpkg --purge sinew sinew-doc libsinew-dev > /dev/null",
            "! update-alternatives --list mpi 2> /dev/null | grep sinew",
            f"{names} | diff before -",
            "find /etc/alternatives -lname \"*sinew*\"")
        lines = out.splitlines()
        self.assertEqual(sorted(lines[:2]), LAUNCHED)
        self.assertEqual(lines[2], "rank 0 of 1")
        self.assertRegex(lines[3], r"-2$")
        self.assertEqual(sorted(lines[4:6]), LAUNCHED)
        self.assertEqual(lines[6:], [], "left behind")

    def test_lintian(self):
        if not shutil.which("lintian"):
            self.skipTest("there is no lintian")
        done = call("lintian", "--fail-on", "error", *self.files.values())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
