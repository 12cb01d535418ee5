# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks of running jobs do, in numbers (`sinew top`), a debugger for those that stand
elsewhere (`sinew gdb`), and jobs that another launcher has started.

usage: top_test.py SINEW BOOT_PROBE MPI_TOP
"""

import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support import SINEW, RunningJobs, run

PROGRAM = sys.argv[3]


def may_look_at_others():
    """Whether the system lets a process look at one that is not its child."""
    setting = Path("/proc/sys/kernel/yama/ptrace_scope")
    return os.geteuid() == 0 or not setting.exists() or setting.read_text().strip() == "0"


class Running(RunningJobs):
    def begin_job(self, ranks=4):
        return self.begin(SINEW, "run", "-n", str(ranks), "--timeout", "200", "--on-deadlock",
                          "say", PROGRAM, ranks=ranks)

    def top(self, *words):
        done = run(SINEW, "top", *words)
        self.assertEqual((done.code, done.err), (0, ""))
        return done.out


class Top(Running):
    def test_rates_are_those_of_the_program(self):
        job = self.begin_job()
        done = json.loads(self.top("--json", str(job.pid)))
        self.assertEqual(done["job"], job.pid)
        sender, receiver, computer, waiter = done["ranks"]
        self.assertGreater(sender["messages_per_s"], 5)
        self.assertAlmostEqual(sender["sent_bytes_per_s"] / sender["messages_per_s"], 1000, delta=1)
        self.assertAlmostEqual(receiver["received_bytes_per_s"] / receiver["calls_per_s"], 1000,
                               delta=1)
        self.assertEqual(receiver["messages_per_s"], 0)
        self.assertLess(sender["in_mpi"], 0.6)
        self.assertGreater(receiver["in_mpi"], 0.6)
        self.assertEqual((receiver["call"], computer["call"]), ("MPI_Recv", ""))
        self.assertEqual((computer["in_mpi"], computer["calls_per_s"]), (0, 0))
        self.assertGreater(computer["processor"], 0.1)
        self.assertGreater(min(r["memory_bytes"] for r in done["ranks"]), 1 << 20)
        self.assertEqual(waiter["calls_per_s"], 0)

    def test_who_has_waited_since_before_anybody_looked(self):
        job = self.begin_job()
        time.sleep(1.5)
        waiter = json.loads(self.top("--json", "--interval", "0.5", str(job.pid)))["ranks"][3]
        self.assertGreater(waiter["waits_s"], 1)
        self.assertEqual(waiter["in_mpi"], 1)

    def test_tables_below_each_other_and_hosts(self):
        job = self.begin_job(3)
        text = self.top("--count", "2", "--interval", "0.3", str(job.pid))
        self.assertRegex(text, rf"^job {job.pid}: .* -n 3 ")
        self.assertEqual(len(re.findall(r"(?m)^3 ranks: [\d.]+ processors in use, \d+ % in MPI, "
                                        r"[\d.]+k? messages/s, .*/s sent, .* of memory$", text)), 2)
        self.assertEqual(len(re.findall(r"(?m)^ +1 +\S+ +\d+ % +\d+ %.*  MPI_Recv$", text)), 2)
        hosts = self.top("--hosts", str(job.pid)).splitlines()
        self.assertEqual(len(hosts), 4)
        self.assertRegex(hosts[-1], r"^ +3 +\S+ +\d+ %")

    def test_ranks_count_only_while_somebody_looks(self):
        job = self.begin(SINEW, "run", "-n", "1", PROGRAM, "100000", ranks=1)
        self.top("--json", "--interval", "0.1", str(job.pid))
        time.sleep(6)  # nobody listens any more
        # The first of two looks begins to listen again: nothing was counted in between.
        first = self.numbers_of(job)
        second = self.numbers_of(job)
        self.assertLess(second - first, 50)
        self.assertGreater(second, 0)

    @staticmethod
    def numbers_of(job):
        """How many calls the job's rank has counted."""
        import socket
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.connect("\0sinew-job.%d.%d" % (os.getuid(), job.pid))
            line.sendall(b"numbers\n")
            return int(line.recv(4096).split()[7])

    def test_on_a_terminal_keys_change_it(self):
        job = self.begin_job(3)
        mine, its = pty.openpty()
        with subprocess.Popen([SINEW, "top", "-i", "0.2", str(job.pid)], stdin=its, stdout=its,
                              stderr=subprocess.PIPE) as shown:
            os.close(its)
            self.read_until(mine, b"MPI_Recv")
            os.write(mine, b"h")
            self.read_until(mine, b"ranks  host")
            os.write(mine, b"q")
            self.read_until(mine, b"\x1b[?1049l")
            self.assertEqual((shown.wait(20), shown.stderr.read()), (0, b""))
        os.close(mine)

    def read_until(self, terminal, wanted):
        seen = b""
        until = time.monotonic() + 30
        while wanted not in seen:
            ready = select.select([terminal], [], [], max(until - time.monotonic(), 0))[0]
            self.assertTrue(ready, seen)
            seen += os.read(terminal, 4096)

    def test_no_job_and_several(self):
        done = run(SINEW, "top", str(os.getpid()))
        self.assertEqual(done.code, 1)
        self.assertRegex(done.err, r"the job \d+ cannot be asked")
        self.assertEqual(run(SINEW, "top", "--count", "0", "1").code, 2)
        jobs = [self.begin_job(2) for _ in range(2)]
        done = run(SINEW, "top", "--json")
        self.assertEqual(done.code, 1)
        self.assertRegex(done.err, rf"several: .*\b{jobs[0].pid}\b")


@unittest.skipUnless(may_look_at_others(), "the system lets nobody look at another's process")
class OtherLaunchers(Running):
    def test_a_process_that_nobody_has_started_as_a_rank(self):
        alone = self.begin(PROGRAM, "100000", ranks=1)
        done = run(SINEW, "status", str(alone.pid))
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertRegex(done.out, rf"^job {alone.pid}: .*mpi_top 100000")
        self.assertRegex(done.out, r"\n  rank 0: .*main")
        rank = json.loads(self.top("--json", str(alone.pid)))["ranks"][0]
        self.assertGreater(rank["calls_per_s"], 5)
        self.assertAlmostEqual(rank["sent_bytes_per_s"] / rank["messages_per_s"], 10, delta=0.1)
        self.assertIn(f"job {alone.pid}: ", run(SINEW, "status").out)


class Debugger(Running):
    def test_ranks_that_stand_elsewhere_or_are_named(self):
        job = self.begin_job()
        pids = {}
        for rank, command in ((3, ["--ranks", "3"]), (0, ["-r", "0,3"])):
            done = run(SINEW, "gdb", "--dry-run", *command, str(job.pid))
            self.assertEqual((done.code, done.err), (0, ""))
            attached = re.findall(r"'attach (\d+)'", done.out)
            self.assertEqual(len(attached), len(command[1].split(",")))
            self.assertIn(f"is rank {rank}\\n", done.out)
            pids[rank] = attached
        self.assertEqual(pids[0][1], pids[3][0])
        self.assertIn("mpi_top", os.readlink(f"/proc/{pids[3][0]}/exe"))
        wrong = run(SINEW, "gdb", "--ranks", "9", str(job.pid))
        self.assertEqual(wrong.code, 1)
        self.assertIn("there is no such rank", wrong.err)

    def test_it_starts_what_it_says(self):
        job = self.begin_job()
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder, "gdb")
            fake.write_text('#!/bin/sh\nfor each; do echo "<$each>"; done\n')
            fake.chmod(0o755)
            env = {**os.environ, "PATH": folder + ":" + os.environ["PATH"]}
            done = subprocess.run([SINEW, "gdb", "-r", "1", str(job.pid)], env=env, timeout=60,
                                  capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"<-q>\n<-ex>\n<set pagination off>\n<-ex>\n<attach \d+>")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
