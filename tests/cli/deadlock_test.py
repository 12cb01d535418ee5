# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose ranks wait for each other for ever are told of at once, and no others.

usage: deadlock_test.py SINEW BOOT_PROBE MPI_DEADLOCK
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support import SINEW, run, start, survivors

PROGRAM = sys.argv[3]
ALIVE = str(Path(PROGRAM).with_name("mpi_no_deadlock"))
SOURCE = Path(__file__).with_name("mpi_deadlock.c").read_text().splitlines()
NO_END = r"\. No message is under way, so this cannot end"
CAF = str(Path(SINEW).with_name("caf.sinew"))
UCX = os.path.exists(os.path.join(os.path.dirname(SINEW), "..", "lib", "libsinew_ucx.so"))


def at(mark):
    """The line of the source that is marked so."""
    number = next(i for i, text in enumerate(SOURCE, 1) if text.endswith(f"/* line: {mark} */"))
    return rf"\S*mpi_deadlock\.c:{number}"


def waits(rank, other, call, details, mark="take"):
    return rf"rank {rank} waits for {other} \({call}, {details}{at(mark)}"


def receives(rank, other, tag):
    return waits(rank, f"rank {other}", "MPI_Recv", f"tag {tag}, ") + r"\)"


def is_in(rank, call, mark):
    return rf"rank {rank} is in {call} \({at(mark)}\)"


WORLD = "of MPI_COMM_WORLD"
OTHER_TAG = "; a message from there with tag {} has come, which it does not take"
# What is run, by how many ranks, and what is told of it.
WAYS = [
    ("receive", 2, [receives(0, 1, 7), receives(1, 0, 8)]),
    ("send", 2, [waits(0, "rank 1", "MPI_Ssend", "tag 9, ", "both_send"),
                 waits(1, "rank 0", "MPI_Ssend", "tag 9, ", "both_send")]),
    ("send much", 2, [waits(0, "rank 1", "MPI_Send", "tag 11, ", "both_send_much"),
                      waits(1, "rank 0", "MPI_Send", "tag 11, ", "both_send_much")]),
    ("itself", 2, [waits(0, "itself", "MPI_Ssend", "tag 3, ", "send_to_itself"),
                   is_in(1, f"MPI_Finalize {WORLD}", "finalize")]),
    ("circle", 3, [receives(0, 1, 5), receives(1, 2, 5), receives(2, 0, 5)]),
    ("tag", 2, [receives(0, 1, 8),
                waits(1, "rank 0", "MPI_Recv", "tag 7, ") + OTHER_TAG.format(9)]),
    ("any", 3, [rf"ranks 0-2 wait for any rank \(MPI_Recv, any tag, {at('take')}\)"]),
    ("all", 2, [waits(0, "rank 1", "MPI_Waitall", "tag 2, ", "wait_for_all") + OTHER_TAG.format(4),
                waits(1, "rank 0", "MPI_Waitall", "tag 2, ", "wait_for_all")]),
    ("one", 2, [waits(0, "rank 1", "MPI_Waitany", "", "wait_for_one"),
                waits(1, "rank 0", "MPI_Waitany", "", "wait_for_one")]),
    ("probe", 2, [waits(0, "rank 1", "MPI_Probe", "tag 6, ", "probe"),
                  waits(1, "rank 0", "MPI_Probe", "tag 6, ", "probe")]),
    ("collectives", 2, [is_in(0, f"MPI_Bcast {WORLD}, root 1", "broadcast"),
                        is_in(1, f"MPI_Reduce {WORLD}, root 1", "reduce")]),
    ("communicators", 2, [is_in(0, f"MPI_Barrier {WORLD}", "communicators"),
                          is_in(1, "MPI_Barrier of copy", "communicators")]),
    ("background", 2, [r"rank 0 .*MPI_Wait.*" + at("background"), receives(1, 0, 1)]),
    ("finalize", 2, [receives(0, 1, 7), is_in(1, f"MPI_Finalize {WORLD}", "finalize")]),
    ("groups", 2, [waits(0, "rank 1", "MPI_Recv", r"tag 3, of \S.*, ", "between_groups"),
                   rf"rank 1 .*MPI_Barrier.*{at('barrier_between')}"]),
    ("threads", 2, [r"rank 0 waits for rank 1 \(MPI_Recv, tag 2[12]",
                    r"rank 1 waits for rank 0 \(MPI_Recv, tag 2[12]"]),
    ("pool", 2, [receives(0, 1, 7), receives(1, 0, 7)]),
    ("lock", 2, [receives(0, 1, 7), rf"rank 1 waits in MPI_Win_lock \({at('lock')}\)"]),
    ("fence", 2, [receives(0, 1, 7), is_in(1, "MPI_Win_fence", "fence")]),
    ("start", 2, [rf"rank 0 waits .*MPI_Win_(start|complete)", r"rank 1 waits .*MPI_Win_"]),
]
# Those that end by themselves.
SEEM_DEAD = ["compute", "sleep", "run", "test", "thread", "request", "turns", "window", "spawn"]


class Deadlock(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(survivors(), [])

    def begin(self, ranks, program, mode, *words, env=None):
        # With another limit the silence of a minute would end it.
        return start(SINEW, "run", "-n", str(ranks), "--timeout", "100", *words, program, mode,
                     env=env)

    def told_of(self, job):
        out, err = job.communicate(timeout=100)
        return job.returncode, out.decode(), err.decode()

    def assert_dead(self, job, parts):
        code, _, err = self.told_of(job)
        self.assertEqual(code, 124, err)
        self.assertRegex(err, "sinew run: deadlock: " + r".*; ".join(parts) + ".*" + NO_END)
        self.assertEqual(err.count("deadlock: "), 1)

    def test_ways_to_wait_for_ever(self):
        jobs = [(way, self.begin(ranks, PROGRAM, way, "--on-deadlock", "end"), parts)
                for way, ranks, parts in WAYS]
        for way, job, parts in jobs:
            with self.subTest(way=way):
                self.assert_dead(job, parts)

    @unittest.skipUnless(UCX, "needs UCX")
    def test_over_a_network(self):
        for way, ranks, parts in WAYS:
            if way in ("receive", "send", "send much", "circle", "tag", "finalize", "probe"):
                with self.subTest(way=way):
                    self.assert_dead(self.begin(ranks, PROGRAM, way, "--on-deadlock", "end",
                                                env={"SINEW_FABRIC_NODES": str(ranks)}), parts)

    @unittest.skipUnless(UCX, "needs UCX")
    def test_over_hosts(self):
        with tempfile.TemporaryDirectory() as folder:
            agent = os.path.join(folder, "agent")
            Path(agent).write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
            os.chmod(agent, 0o755)
            hosts = ("--hosts", "a:1,b:1", "--rsh", agent)
            for way, _, parts in WAYS:
                if way == "tag":
                    self.assert_dead(self.begin(2, PROGRAM, way, *hosts, "--on-deadlock", "end"),
                                     parts)
            job = self.begin(2, ALIVE, "turns", *hosts, "--on-deadlock", "end")
            self.assertEqual(self.told_of(job)[0], 0)

    @unittest.skipUnless(shutil.which("gfortran") and os.path.exists(CAF), "needs gfortran")
    def test_coarrays(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = (os.path.join(folder, name) for name in ("program.f90", "program"))
            Path(source).write_text("use iso_fortran_env\n"
                                    "type(event_type) :: e[*]\n"
                                    "sync all\n"
                                    "if (this_image() == 1) then\n"
                                    "  event wait (e)\n"
                                    "else\n"
                                    "  sync images (1)\n"
                                    "end if\n"
                                    "end\n")
            made = run(CAF, "-g", "-O0", source, "-o", program)
            self.assertEqual(made.code, 0, made.err)
            self.assert_dead(self.begin(2, program, "", "--on-deadlock", "end"),
                             [r"rank 0 waits in event wait \(\S*program\.f90:5\)",
                              r"rank 1 waits in sync images \(\S*program\.f90:7\)"])

    def test_ranks_that_only_seem_to(self):
        jobs = [(mode, self.begin(3, ALIVE, mode, "--on-deadlock", "end")) for mode in SEEM_DEAD]
        for mode, job in jobs:
            with self.subTest(mode=mode):
                code, _, err = self.told_of(job)
                self.assertEqual((code, err), (0, ""))

    @unittest.skipUnless(UCX, "needs UCX")
    def test_ranks_that_only_seem_to_over_a_network(self):
        for mode in ("sleep", "turns"):
            with self.subTest(mode=mode):
                job = self.begin(3, ALIVE, mode, "--on-deadlock", "end",
                                 env={"SINEW_FABRIC_NODES": "3"})
                self.assertEqual(self.told_of(job)[0], 0)

    def test_one_that_reads(self):
        job = start(SINEW, "run", "-n", "3", "--on-deadlock", "end", ALIVE, "read",
                    stdin=subprocess.PIPE)
        time.sleep(1.2)
        out, err = job.communicate(b"x", timeout=100)
        self.assertEqual((job.returncode, err), (0, b""))

    def test_jobs_that_meet(self):
        with tempfile.TemporaryDirectory() as folder:
            port = os.path.join(folder, "port")
            jobs = [start(SINEW, "run", "-n", "2", "--on-deadlock", "end", ALIVE, mode, port)
                    for mode in ("accept", "connect")]
            for job in jobs:
                self.assertEqual(self.told_of(job)[::2], (0, ""))

    def test_threads_as_fibers_are_not_judged(self):
        job = self.begin(2, ALIVE, "thread", "--threads-as-fibers", "--on-deadlock", "end")
        self.assertEqual(self.told_of(job)[0], 0)

    def test_messages_that_are_held_back(self):
        for seed in "123":
            done = run(SINEW, "run", "-n", "3", "--on-deadlock", "end", "--timeout", "100", ALIVE,
                       "turns", env={"SINEW_FABRIC_DISTURB": seed})
            self.assertEqual(done.code, 0, done.err)

    def test_the_job_goes_on(self):
        job = self.begin(2, PROGRAM, "receive")
        line = job.stderr.readline().decode()
        self.assertRegex(line, r"deadlock: .*" + NO_END + r"; the job goes on \(--on-deadlock\)")
        time.sleep(0.7)  # it is told once
        job.terminate()
        self.assertNotIn("deadlock", self.told_of(job)[2])

    def test_who_checks_calls_has_the_job_ended(self):
        done = run(SINEW, "run", "-n", "2", "-x", "SINEW_MPI_CHECK=1", PROGRAM, "receive")
        self.assertEqual(done.code, 124, done.err)
        done = run(SINEW, "run", "-n", "2", "--on-deadlock", "perhaps", PROGRAM, "receive")
        self.assertEqual(done.code, 2)
        self.assertIn("--on-deadlock takes say or end", done.err)

    def test_status_says_what_is_waited_for(self):
        job = self.begin(2, PROGRAM, "tag")
        job.stderr.readline()
        text = run(SINEW, "status", str(job.pid)).out
        self.assertRegex(text, r"  rank 1: MPI_Recv from rank 0, tag 7, of MPI_COMM_WORLD, 4 bytes"
                               r"(, for \d+ s)?, in take \(" + at("take"))
        places = json.loads(run(SINEW, "status", "--json", str(job.pid)).out)
        wait = places[1]["waits"]
        self.assertGreater(wait.pop("milliseconds"), 200)
        self.assertEqual(wait, {"for": "receive", "ranks": [0], "tag": 7, "bytes": 4,
                                "communicator": "MPI_COMM_WORLD"})
        job.kill()
        job.communicate()


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
