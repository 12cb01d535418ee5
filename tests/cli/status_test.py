# SPDX-License-Identifier: BSD-3-Clause
"""Running jobs are asked where their ranks stand: `sinew status`, a typed ^\\, a ^C, --timeout.

usage: status_test.py SINEW BOOT_PROBE MPI_STATUS
"""

import json
import os
import re
import select
import signal
import socket
import sys
import time
import unittest
from pathlib import Path

from support import SINEW, RunningJobs, run, start

PROGRAM = sys.argv[3]
SOURCE = Path(__file__).with_name("mpi_status.c").read_text().splitlines()


def line(function):
    """What stands for the place in that function which the source marks."""
    number = next(i for i, text in enumerate(SOURCE, 1) if text.endswith(f"/* line: {function} */"))
    return rf"{function} \(\S*mpi_status\.c:{number}\)"


REDUCING = r"MPI_Allreduce( of MPI_COMM_WORLD)?(, for \d+ s)?, in " + line("gather_all")


class Status(RunningJobs):
    def begin_job(self, ranks=4, mode="", words=(), env=None):
        job = self.begin(SINEW, "run", "-n", str(ranks), "--timeout", "200", *words, PROGRAM, mode,
                         ranks=ranks, env=env)
        until = time.monotonic() + 60  # they may not stand where they will
        while not self.all_stand(json.loads(self.ask("--json", str(job.pid)))):
            self.assertLess(time.monotonic(), until)
        return job

    @staticmethod
    def all_stand(places):
        return all(each["call"] == "MPI_Allreduce" or
                   each["function"] in ("lag_behind", "compute", "call_back") for each in places)

    def ask(self, *words):
        done = run(SINEW, "status", *words)
        self.assertEqual((done.code, done.err), (0, ""))
        return done.out

    def assert_told(self, text, *places):
        """Each place is a line, in that order."""
        self.assertRegex(text, r"(?s)" + r".*\n.*".join(places))

    def test_the_fewest_come_last(self):
        job = self.begin_job()
        text = self.ask(str(job.pid))
        self.assert_told(text, f"job {job.pid}: .*run.* -n 4", r"  ranks 0, 2-3: " + REDUCING,
                         r"  rank 1: MPI_Recv.*, in " + line("lag_behind"),
                         r"  1 rank stands elsewhere than the 3 others: look there first\.")

    def test_one_that_computes_or_is_called_back(self):
        job = self.begin_job(mode="compute")
        self.assert_told(self.ask(str(job.pid)),
                         r"  rank 1: in no call of MPI, in " + line("compute"))
        other = self.begin_job(mode="call back")
        text = self.ask(str(other.pid))
        self.assert_told(text, r"  rank 1: MPI_Reduce_local, in " + line("call_back"))
        all_of_them = self.ask()  # others may run on this machine
        self.assertIn(f"job {job.pid}: ", all_of_them)
        self.assertIn(f"job {other.pid}: ", all_of_them)

    def test_as_a_tree_and_for_programs(self):
        job = self.begin_job()
        tree = self.ask("--stacks", str(job.pid))
        self.assert_told(tree, r"\n  main \(\S*mpi_status.c:\d+\)  \[ranks 0, 2-3\]",
                         line("gather_all"), "  MPI_Allreduce", r"  main \([^\n]*  \[rank 1\]",
                         line("lag_behind"), "  MPI_Recv")
        self.assertNotIn("sinew::", tree)
        places = json.loads(self.ask("--json", str(job.pid)))
        self.assertEqual([each["rank"] for each in places], [0, 1, 2, 3])
        self.assertEqual([each["call"] for each in places],
                         ["MPI_Allreduce", "MPI_Recv", "MPI_Allreduce", "MPI_Allreduce"])
        self.assertEqual(places[1]["function"], "lag_behind")
        self.assertRegex(places[1]["where"], r"mpi_status\.c:\d+$")

    def test_nobody_waits_for_servers_of_sources(self):
        with socket.create_server(("localhost", 0)) as server:
            address = "http" + "://%s:%d" % server.getsockname()
            job = self.begin_job(env={"DEBUGINFOD_URLS": address, "DEBUGINFOD_TIMEOUT": "1"})
            self.assertIn("gather_all", self.ask(str(job.pid)))
            self.assertEqual(select.select([server], [], [], 0)[0], [])

    def test_a_program_without_source_lines(self):
        bare = Path(PROGRAM).with_name(f"mpi_status-{os.getpid()}.bare")
        self.addCleanup(bare.unlink)
        run("strip", "-o", str(bare), PROGRAM)
        job = start(SINEW, "run", "-n", "2", "--timeout", "200", str(bare))
        self.jobs.append(job)
        for _ in range(2):
            job.stdout.readline()
        self.assert_told(self.ask(str(job.pid)), r"rank 0: MPI_Allreduce.*, in .*" + bare.name,
                         r"rank 1: MPI_Recv.*, in .*" + bare.name)

    def read_told(self, job, last):
        text = ""
        while last not in text:
            got = job.stderr.readline().decode()
            self.assertTrue(got, text)
            text += got
        return text

    def test_the_job_says_it_itself_and_goes_on(self):
        job = self.begin_job()
        for _ in range(2):
            job.send_signal(signal.SIGQUIT)
            self.assert_told(self.read_told(job, "look there first"), "where the ranks stand:",
                             r"  ranks 0, 2-3: " + REDUCING, "  rank 1: MPI_Recv")
        self.assertIsNone(job.poll())

    def test_when_the_time_is_up(self):
        done = run(SINEW, "run", "-n", "4", "--timeout", "2", PROGRAM)
        self.assertEqual(done.code, 124)
        self.assert_told(done.err, r"the time is up", "where the ranks stand:",
                         r"  ranks 0, 2-3: " + REDUCING, "  rank 1: MPI_Recv")

    def test_silence_is_told_once(self):
        job = self.begin_job(mode="thread", words=("--silence", "1"))
        text = self.read_told(job, "the job goes on")
        self.assert_told(text, "where the ranks stand:", r"  ranks 0, 2-3: " + REDUCING,
                         "sinew run: all ranks wait, and none has done anything for 1 s")
        time.sleep(2.5)
        job.terminate()
        self.assertNotIn("all ranks wait", job.communicate(timeout=60)[1].decode())

    def test_silence_may_end_the_job(self):
        done = run(SINEW, "run", "-n", "4", "--silence", "1", "--on-silence", "end", PROGRAM,
                   "thread")
        self.assertEqual(done.code, 124)
        self.assert_told(done.err, "  rank 1: MPI_Recv", "all ranks wait, and none has done any")

    def test_who_computes_sleeps_or_is_called_back_is_not_silent(self):
        for mode in ("compute", "sleep", "call back"):
            with self.subTest(mode=mode):
                done = run(SINEW, "run", "-n", "2", "--silence", "0.5", "--on-silence", "end",
                           "--timeout", "3", PROGRAM, mode)
                self.assertEqual(done.code, 124)
                self.assertIn("the time is up", done.err)
                self.assertNotIn("all ranks wait", done.err)

    def test_an_interrupt_says_it_of_a_job_that_waits(self):
        for mode, told in (("", True), ("compute", False)):
            job = self.begin_job(mode=mode)
            job.send_signal(signal.SIGINT)
            err = job.communicate(timeout=60)[1].decode()
            self.assertEqual(job.returncode, 130)
            self.assertEqual("where the ranks stand:" in err, told, err)

    @unittest.skipUnless((3, 11) <= sys.version_info[:2] <= (3, 13), "another Python")
    def test_a_program_in_python(self):
        program = Path(PROGRAM).with_name(f"status-{os.getpid()}.py")
        self.addCleanup(program.unlink)
        program.write_text("import time, threading\n"
                           "class Solver:\n"
                           "    def step(self, n):\n"
                           "        if n:\n"
                           "            return self.step(\n"
                           "                n - 1)\n"
                           "        time.sleep(\n"
                           "            100)\n"
                           "threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
                           "print('ready', flush=True)\n"
                           "Solver().step(2)\n")
        job = start(SINEW, "run", "-n", "2", "--timeout", "200", sys.executable, str(program))
        self.jobs.append(job)
        for _ in range(2):
            self.assertEqual(job.stdout.readline(), b"ready\n")
        here = re.escape(program.name)
        until = time.monotonic() + 20  # it may not sleep yet
        while "step" not in self.ask(str(job.pid)):
            self.assertLess(time.monotonic(), until)
        self.assert_told(self.ask(str(job.pid)),
                         rf"  ranks 0-1: in no call of MPI, in Solver\.step \(\S*{here}:7\)")
        self.assert_told(self.ask("--stacks", str(job.pid)),
                         rf"<module> \(\S*{here}:11\)", rf"Solver\.step \(\S*{here}:5\)",
                         rf"Solver\.step \(\S*{here}:5\)", rf"Solver\.step \(\S*{here}:7\)")

    def test_a_crash_tells_its_calls(self):
        head = r"sinew: rank 1 of 2 crashed on .*backtrace, innermost call first:"
        calls = r"sinew run: the calls of rank 1 of 2 \(pid .*\) as it crashed, innermost first:"
        for mode, told in (("crash", [line("write_far")]),
                           ("crash, deep", [line("go_deep") + r"  \[\d\d+ times\]", "  and more"]),
                           ("crash, in MPI", ["MPI_Recv", r"(crash|main) \(\S*mpi_status\.c:"])):
            with self.subTest(mode=mode):
                done = run(SINEW, "run", "-n", "2", PROGRAM, mode)
                self.assertEqual(done.code, 139)
                self.assert_told(done.err, head, calls, *told, "was killed by SIGSEGV")
                self.assertNotIn("libc_start", done.err)

    def test_ranks_without_mpi(self):
        job = start(SINEW, "run", "-n", "2", "sh", "-c", "echo ready; exec sleep 100")
        self.jobs.append(job)
        for _ in range(2):
            self.assertEqual(job.stdout.readline(), b"ready\n")
        self.assertRegex(self.ask(str(job.pid)), "rank.* in no call of MPI")

    def test_what_cannot_be_asked(self):
        job = self.begin_job()
        done = run(SINEW, "status", str(os.getpid()))
        self.assertEqual((done.code, done.out), (1, ""))
        self.assertRegex(done.err, r"the job \d+ cannot be asked .*sinew status lists them")
        done = run(SINEW, "status", "here")
        self.assertEqual(done.code, 2)
        job.kill()
        job.communicate()
        done = run(SINEW, "status", str(job.pid))
        self.assertEqual(done.code, 1)


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
