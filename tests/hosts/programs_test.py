# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs on two hosts with two ranks each: those of tests/programs/mpi, 10000 fibers that
wait for a receive, and of mpi4py's tests a few modules (all of them by `make check-mpi4py`)."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
from over_hosts import BOUND, LONGEST, ROOT, SINEW, OverHosts, launcher, support  # noqa: E402

PROGRAMS = sys.argv[3].split(",")


class Programs(OverHosts):
    count = 2

    def test_each(self):
        with tempfile.TemporaryDirectory(dir=Path(SINEW).parents[1]) as shared:
            for path in PROGRAMS:
                name = Path(path).name
                with self.subTest(name):
                    done = support.run(*launcher(*BOUND, path),
                                       env={"TMPDIR": shared, "OVER_HOSTS": "2"},
                                       limit=LONGEST)
                    self.assertEqual(done.code, 0, done.out + done.err)

    def test_a_file_that_hosts_do_not_share(self):
        path = next(p for p in PROGRAMS if p.endswith("/mpi_files"))
        done = support.run(*launcher(*BOUND, path), limit=LONGEST)
        self.assertEqual(done.code, 1, done.err)
        self.assertIn("failed: MPI_File_open", done.err)


class Mpi4py(OverHosts):
    """By its own hosts."""
    count = 1

    def test_some_modules(self):
        run = ROOT / "tests" / "programs" / "mpi4py" / "run"
        done = subprocess.run([sys.executable, run, "--build", Path(SINEW).parents[1], "--hosts",
                               "--limit", "120", "test_p2p_buf", "test_comm_topo", "test_attr"],
                              capture_output=True, text=True, timeout=500, check=False,
                              env=support.environment({"HOME": os.environ.get("HOME", "/")}))
        if done.returncode == 77:
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    over_hosts.main(4)
