# SPDX-License-Identifier: BSD-3-Clause
"""Coarray programs over two hosts with two images each, and how jobs of them end.

usage: coarray_test.py SINEW PLACE PROGRAM...
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
from over_hosts import PROBE, OverHosts, run, tool  # noqa: E402

PLACE = Path(PROBE)
PROGRAMS = sys.argv[3:]


class Coarrays(OverHosts):
    count = 2

    def test_every_program(self):
        for name in PROGRAMS:
            with self.subTest(program=name):
                done = run(*over_hosts.BOUND, str(PLACE / name))
                self.assertEqual((done.code, done.out, done.err), (0, "good\n", ""))

    def test_endings(self):
        for ending, code, out, err in (
                ("stop", 0, r"^$", r"^$"),
                ("error stop", 7, r".*", r".*"),
                ("killed", 137, r".*", r"rank 1 .*SIGKILL"),
                ("failed", 0, r"went on without it", r".*"),
                ("died", 0, r"went on without it", r"SIGKILL .*; the others go on"),
                ("died in a lock", 0, r"went on without it", r"SIGKILL .*; the others go on"),
                ("died, all statements", 0, r"went on without it", r"SIGKILL .*; the others go on"),
                ("failed, all statements", 0, r"went on without it", r".*"),
                ("failed in a lock", 0, r"went on without it", r".*"),
                ("stopped, all statements", 0, r"went on without it", r".*")):
            for hosts in ("h1,h2:2", "h1:2,h2"):
                with self.subTest(ending=ending, hosts=hosts):
                    others_go_on = ["--survive"] if ending.startswith("died") else []
                    done = run(*over_hosts.BOUND, *others_go_on, str(PLACE / "endings"), ending,
                               hosts=hosts)
                    self.assertEqual(done.code, code, done.err)
                    self.assertRegex(done.out, out)
                    self.assertRegex(done.err, err)


    def test_a_link_that_is_cut_for_ever(self):
        self.begin("--survive", *over_hosts.BOUND, str(PLACE / "endings"), "cut off",
                   hosts="h1,h2")
        self.addCleanup(tool, "join", "h2")
        self.assertEqual(self.started.stdout.readline().strip(), b"waits")
        tool("cut", "h2")
        out, err = self.started.communicate(timeout=over_hosts.LONGEST)
        self.assertEqual(self.started.returncode, 0, err.decode())
        self.assertIn(b"went on without it", out)
        self.assertRegex(err.decode(), "the host h2 is lost: .*; the others go on")


if __name__ == "__main__":
    over_hosts.main(len(sys.argv))
