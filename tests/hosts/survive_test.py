# SPDX-License-Identifier: BSD-3-Clause
"""`sinew run --survive` over hosts: a rank or a host dies, or a link is cut for ever, and the
others are told and go on.

usage: survive_test.py SINEW BOOT_PROBE MPI_SURVIVE MPI_BETWEEN MPI_SURVIVE_WINDOWS EVENT_LOST
       MPI_TRANSFERS
"""
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
from over_hosts import PROBE, OverHosts, run, tool  # noqa: E402

SURVIVE, BETWEEN, WINDOWS, EVENTS, TRANSFERS = sys.argv[3:8]


class Survive(OverHosts):
    count = 3

    def test_a_rank_dies(self):
        for hosts in ("h1,h2", "h1:2,h2:2", "h1,h2:2,h3"):
            for program in (SURVIVE, BETWEEN):
                with self.subTest(program=program, hosts=hosts):
                    done = run("--survive", *over_hosts.BOUND, program, hosts=hosts)
                    self.assertEqual((done.code, done.out), (0, "survived\n"), done.err)
                    self.assertRegex(done.err, "was killed by SIGKILL .*; the others go on")

    def test_a_target_of_one_sided_operations_dies(self):
        for hosts in ("h1,h2,h3", "h1:3,h2"):
            with self.subTest(hosts=hosts):
                done = run("--survive", *over_hosts.BOUND, WINDOWS, "far", hosts=hosts)
                self.assertEqual((done.code, done.out), (0, "survived\n"), done.err)

    def test_events_of_a_rank_that_dies(self):
        for hosts in ("h1:2,h2:2", "h1,h2,h3"):
            with self.subTest(hosts=hosts):
                done = run("--survive", *over_hosts.BOUND, "-x", "SINEW_FIBER_WORKERS=1", EVENTS,
                           hosts=hosts)
                self.assertEqual(done.code, 0, done.out + done.err)
                self.assertIn("rank 1 has gone on", done.out)

    def test_partitions_and_files_of_a_rank_that_dies(self):
        name = Path(PROBE).with_name(f"survive-{os.getpid()}.file")
        self.addCleanup(name.unlink, missing_ok=True)
        done = run("--survive", *over_hosts.BOUND, TRANSFERS, str(name), hosts="h1:2,h2")
        self.assertEqual((done.code, done.out), (0, "survived\n"), done.err)

    def lost(self, *words, why):
        """The host of the last rank is lost while the others wait for that rank."""
        self.begin("--survive", *over_hosts.BOUND, SURVIVE, "paused", hosts="h1:2,h2")
        self.assertEqual(self.started.stdout.readline(), b"paused\n")
        began = time.monotonic()
        tool(*words)
        out, err = self.started.communicate(timeout=over_hosts.LONGEST)
        self.assertEqual((self.started.returncode, out), (0, b"survived\n"), err.decode())
        self.assertRegex(err.decode(), why + ".*; the others go on")
        return time.monotonic() - began

    def test_a_link_that_is_cut_for_ever(self):
        self.addCleanup(tool, "join", "h2")
        self.lost("cut", "h2", why="the host h2 is lost: nothing was heard of it for 4 s")

    def test_a_host_that_dies(self):
        self.addCleanup(lambda: (tool("down"), tool("up", str(self.count))))
        self.lost("kill", "h2", why="the host h2")


if __name__ == "__main__":
    over_hosts.main(len(sys.argv))
