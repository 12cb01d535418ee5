# SPDX-License-Identifier: BSD-3-Clause
"""What simulated programs see of the system's clocks, and of time that they let pass.

usage: clocks_test.py SINEW BOOT_PROBE SYSTEM_CLOCKS MPI_LIBRARY
"""
import os
import re
import sys
import unittest

from support import SINEW, run, survivors

MPI = os.path.abspath(sys.argv.pop(4))
CLOCKS = sys.argv.pop(3)

BEGIN = f"""
import asyncio, ctypes, datetime, sys, threading, time
def tell(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\\n")  # in one piece
tell("begins on", datetime.datetime.fromtimestamp(time.time(), datetime.timezone.utc).date())
mpi = ctypes.CDLL({MPI!r}, ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
def lasts(what):
    began = time.monotonic_ns(), time.perf_counter_ns(), time.time_ns()
    what()
    ended = time.monotonic_ns(), time.perf_counter_ns(), time.time_ns()
    tell(*[round(now - then, -3) for now, then in zip(ended, began)])
"""
ALONE = BEGIN + """
def poll_the_clock():
    end = time.time() + 0.05
    while time.time() < end:
        pass
lasts(lambda: time.sleep(1))
lasts(lambda: time.sleep(3600))
lasts(poll_the_clock)
# What waits for descriptors or other threads lasts really, too.
lasts(lambda: threading.Event().wait(0.02))
asyncio.run(asyncio.sleep(0.02))
mpi.MPI_Finalize()
"""
THREADS = BEGIN + """
def sleep_often():
    for _ in range(3):
        lasts(lambda: time.sleep(0.02))
others = [threading.Thread(target=sleep_often) for _ in range(2)]
for each in others:
    each.start()
lasts(lambda: time.sleep(5))
for each in others:
    each.join()
mpi.MPI_Finalize()
"""


class Clocks(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(survivors(), [])

    def three_alike(self, *words, limit):
        """Their output, in less real time than `limit` seconds."""
        runs = [run(SINEW, "simulate", *words) for _ in range(3)]
        for done in runs:
            self.assertEqual(done.code, 0, done.err)
        self.assertEqual({sorted_lines(done) for done in runs}, {sorted_lines(runs[0])})
        self.assertLess(min(done.seconds for done in runs), limit)
        digests = {re.search("digest [0-9a-f]+", done.err).group() for done in runs}
        self.assertEqual(len(digests), 1)
        return runs[0].out

    def test_a_c_program(self):
        # 11 seconds of sleep, and a tenth in waits that last really.
        out = self.three_alike("-n", "2", CLOCKS, limit=5)
        for what, wanted in (("sleep", 1e9), ("usleep", 25e7), ("nanosleep", 1e9),
                             ("thrd_sleep", 1e9), ("clock_nanosleep", 1e9), ("until a date", 1e9),
                             ("select", 15e8), ("pselect", 1e9), ("poll", 1e9), ("ppoll", 1e9),
                             ("poll of a pipe", 2e7), ("epoll_wait", 2e7), ("condition", 2e7),
                             ("semaphore", 2e7), ("futex until a moment", 2e7),
                             ("futex for a time", 2e7), ("a second thread's usleep", 5e7)):
            number = int(re.search(rf"^{what}: (\d+) ns$", out, re.M).group(1))
            self.assertGreaterEqual(number, wanted - 1000, what)
            self.assertLess(number, wanted + 1000, what)
        self.assertIn("MPI_Wtime: 2.000000 s", out)
        self.assertIn("clock 0: 17672256000000", out)
        self.assertIn("time 1767225600, gettimeofday 1767225600.00000", out)
        whole = [int(n) for n in re.findall(r"rank \d: (\d+) ns in all, and forward: yes", out)]
        self.assertEqual(len(whole), 2)
        for number in whole:  # rank 1's sleep is over when rank 0's are
            self.assertAlmostEqual(number / 1e9, 11.87, places=2)

    def test_a_loop_that_polls_the_clock_ends(self):
        done = run(SINEW, "simulate", "-n", "2", CLOCKS, "spin")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(done.out.count("and the processor's clock goes on: yes"), 2)

    def test_a_python_program(self):
        out = self.three_alike("-n", "2", sys.executable, "-c", ALONE, limit=20)
        self.assertEqual(out.count("begins on 2026-01-01\n"), 2)
        for wanted in ("1000000000", "3600000000000", "50000000", "20000000"):
            self.assertEqual(out.count(f"{wanted} {wanted} {wanted}\n"), 2, f"{wanted}: {out}")

    def test_threads_that_sleep_see_that_time_has_passed(self):
        done = run(SINEW, "simulate", "-n", "2", sys.executable, "-c", THREADS)
        self.assertEqual(done.code, 0, done.err)
        for wanted, lines in ((5e9, 2), (2e7, 12)):
            near = [line for line in done.out.splitlines() if re.fullmatch(r"\d+ \d+ \d+", line)
                    and all(wanted <= float(n) + 1000 for n in line.split())]
            self.assertGreaterEqual(len(near), lines, f"{wanted}: {done.out}")

    def test_other_programs_keep_their_sleeps(self):
        done = run(SINEW, "simulate", "-n", "2", "sh", "-c", "sleep 0.3; date -u +%F")
        self.assertEqual((done.code, done.out), (0, "2026-01-01\n" * 2), done.err)
        self.assertGreater(done.seconds, 0.3)

    def test_one_rank(self):
        words = "import ctypes, time; ctypes.CDLL(%r).MPI_Init(None, None); began = time.time(); " \
            "time.sleep(100); print(round(time.time() - began, 3))" % MPI
        done = run(SINEW, "simulate", "-n", "1", sys.executable, "-c", words)
        self.assertEqual(done.out, "100.0\n", done.err)
        self.assertLess(done.seconds, 50)

    def test_other_preloaded_libraries_are_kept(self):
        done = run(SINEW, "simulate", "-n", "2", "-x", "LD_PRELOAD=libc.so.6", "sh", "-c",
                   "echo $LD_PRELOAD")
        self.assertRegex(done.out, r"^/\S+/libsinew_clock\.so\.0:libc\.so\.6\n")
        done = run(SINEW, "run", "-n", "2", "sh", "-c", "echo [$LD_PRELOAD]")
        self.assertEqual(done.out, "[]\n[]\n")


def sorted_lines(done):
    return tuple(sorted(done.out.splitlines()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
