# SPDX-License-Identifier: BSD-3-Clause
"""bootstrap with stand-ins for dpkg-query, id and apt-get: nothing is installed."""

import os
import shutil
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Bootstrap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        (self.place / "packaging").mkdir()
        shutil.copy(ROOT / "bootstrap", self.place)
        for name in ("packages.txt", "python.txt"):
            shutil.copy(ROOT / "packaging" / name, self.place / "packaging")
        (self.place / "bin").mkdir()
        self.stand_in("apt-get", 'echo "$@" >> "$STAND_IN_LOG"')
        self.installed("")
        self.user(0)

    def stand_in(self, name, body):
        file = self.place / "bin" / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    def user(self, number):
        self.stand_in("id", f"echo {number}")

    def installed(self, names):
        lines = "".join(f"install ok installed {n}\\n" for n in names.split())
        self.stand_in("dpkg-query", f"printf '{lines}'")

    def run_it(self, *options):
        environment = dict(os.environ, STAND_IN_LOG=str(self.place / "log"))
        environment["PATH"] = f"{self.place}/bin:{environment['PATH']}"
        return subprocess.run([self.place / "bootstrap", *options], env=environment, text=True,
                              capture_output=True, timeout=100, check=False)

    def log(self):
        file = self.place / "log"
        return file.read_text() if file.exists() else ""

    def everything(self):
        names = self.run_it("--list", "--dev").stdout
        self.assertIn("libhwloc-dev", names)
        return names

    def test_list_knows_purposes(self):
        self.assertNotIn("libgtest-dev", self.run_it("--list", "--minimal").stdout)
        self.assertIn("libgtest-dev", self.run_it("--list", "--dev").stdout)
        self.assertEqual(self.run_it("--list").stdout, self.run_it("--list", "--dev").stdout)
        self.assertEqual(self.log(), "")

    def test_does_nothing_if_all_is_there(self):
        self.installed(self.everything())
        result = self.run_it("--dev")
        self.assertEqual((result.returncode, result.stdout, self.log()), (0, "", ""))

    def test_installs_only_what_is_missing(self):
        self.installed(self.everything().replace("libgtest-dev", ""))
        self.assertEqual(self.run_it("--dev").returncode, 0)
        update, install = self.log().splitlines()
        self.assertIn("update", update)
        self.assertTrue(install.endswith("libgtest-dev"), install)
        self.assertNotIn("cmake", install)

    def test_dry_run_installs_nothing(self):
        self.assertIn("would install: g++", self.run_it("--dry-run").stdout)
        self.assertEqual(self.log(), "")

    def test_without_root_it_says_what_to_ask_for(self):
        self.user(1000)
        self.installed(self.everything().replace("ninja-build", ""))
        result = self.run_it("--minimal")
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get install --no-install-recommends ninja-build\n", result.stderr)
        self.assertEqual(self.log(), "")

    def test_without_root_and_nothing_missing_it_is_content(self):
        self.user(1000)
        self.installed(self.everything())
        self.assertEqual(self.run_it().returncode, 0)

    def test_unknown_option(self):
        result = self.run_it("--everything")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--everything", result.stderr)


if __name__ == "__main__":
    unittest.main()
