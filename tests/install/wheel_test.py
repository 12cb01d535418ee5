# SPDX-License-Identifier: BSD-3-Clause
"""Makes a wheel of the build tree SINEW_BUILD and uses it in a new virtual environment."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
BUILD = Path(os.environ["SINEW_BUILD"])
MOST_BYTES = 15_000_000


def run(*command, **more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SINEW_", "LD_"))}
    done = subprocess.run([str(c) for c in command], env={**environment, **more}, text=True,
                          timeout=400, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = Path(cls.folder.name)
        run(TREE / "tools/wheel", BUILD, cls.work / "dist")
        cls.wheel, = (cls.work / "dist").glob("sinew-*.whl")
        try:
            run(sys.executable, "-m", "venv", cls.work / "env")
        except AssertionError as e:
            raise unittest.SkipTest(f"Python makes no virtual environments here: {e}") from e
        cls.bin = cls.work / "env/bin"
        run(cls.bin / "python", "-m", "pip", "install", "--no-index", "-q",
            "--disable-pip-version-check", cls.wheel)

    def test_it_is_small(self):
        self.assertLessEqual(self.wheel.stat().st_size, MOST_BYTES)

    def test_what_is_compiled_with_it_runs(self):
        program = self.work / "hello"
        run(self.bin / "mpicc", HERE / "consumer/hello.c", "-o", program)
        out = run(self.bin / "mpiexec", "-n", "2", program)
        self.assertEqual(len(out.splitlines()), 2, out)
        run(self.bin / "sinew", "info", "topology")

    def test_python_finds_a_library_of_mpi(self):
        """As mpi4py looks for it: in the environment's lib, without a launcher."""
        for name in ("libmpi.so.12", "libmpi.so.40"):
            asks = f"import ctypes; ctypes.CDLL('{self.work}/env/lib/{name}').MPI_Init(None, None)"
            run(self.bin / "python", "-c", asks)

    def test_a_library_is_found_by_each_of_its_names(self):
        """A wheel has no links."""
        for name in ("mpich/libmpichfort.so.12", "openmpi/libmpi_usempif08.so.40"):
            asks = f"import ctypes; ctypes.CDLL('{self.work}/env/lib/sinew/{name}').mpi_send_"
            run(self.bin / "python", "-c", asks)


if __name__ == "__main__":
    unittest.main(verbosity=2)
