# SPDX-License-Identifier: BSD-3-Clause
"""The same program, network and seed give the same run, whatever else the machine does.

usage: digests_test.py SINEW FOLDER_OF_PROGRAMS
"""
import os
import re
import subprocess
import sys
import unittest

SINEW, FOLDER = sys.argv[1:3]
FIGURES = re.compile(r"([\d.]+ u?s) of virtual time, .* real; "
                     r"(\d+) messages, (\d+) bytes; .* digest (\w+)")
# No threads, no real time, and no seed of their own.
PROGRAMS = [words.split() for words in (
    "collective_check", "collectives", "collectives_nonblocking", "collectives_persistent",
    "cross_memory", "customs", "edges", "file_rules", "hints", "intercollectives 3 4",
    "intercollectives_nonblocking 3 4", "intercomm 5", "matching", "neighbours",
    "neighbours_persistent", "objects", "polling", "random_order 3 30 1",
    "random_order_nonblocking 4 30 1", "revoke", "routes", "sessions", "tool_counters", "topology")]
# Whose threads are fibers.
THREADED = ["mpi_meeting_threads 2", "mpi_partitioned", "explored_threads"]
# In which a rank dies.
SURVIVING = ["survive", "between", "survive_windows", "pending"]
RUNS = 3


def figures(seed, program, *words, options=()):
    done = subprocess.run(
        [SINEW, "simulate", "--seed", str(seed), "-n", "4", "--timeout", "60", *options,
         os.path.join(FOLDER, program), *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
    found = FIGURES.search(done.stderr)
    if done.returncode != 0 or found is None:
        raise AssertionError(f"{program}, seed {seed}: code {done.returncode}\n{done.stderr}")
    return found.groups()


class Digests(unittest.TestCase):
    def setUp(self):
        # Somebody else's work, on whichever processor.
        self.load = subprocess.Popen([sys.executable, "-c", "while True: pass"])

    def tearDown(self):
        self.load.kill()
        self.load.wait()

    def test_equal_seeds_give_equal_runs(self):
        for words in PROGRAMS:
            seen = {}
            for seed in (0, 7):
                seen[seed] = {figures(seed, "mpi_" + words[0], *words[1:]) for _ in range(RUNS)}
                self.assertEqual(len(seen[seed]), 1, f"{words}, seed {seed}: {seen[seed]}")
            self.assertNotEqual(seen[0], seen[7], words)

    def test_threads_that_are_fibers_take_the_same_turns(self):
        for program in THREADED:
            for seed in (0, 7):
                seen = {figures(seed, *program.split(), options=["--threads-as-fibers"])
                        for _ in range(RUNS)}
                self.assertEqual(len(seen), 1, f"{program}, seed {seed}: {seen}")

    def test_deaths_come_at_the_same_time(self):
        for program in SURVIVING:
            for seed in (0, 7):
                seen = {figures(seed, "mpi_" + program, options=["--survive"])
                        for _ in range(RUNS)}
                self.assertEqual(len(seen), 1, f"{program}, seed {seed}: {seen}")
        seen = {figures(7, "explored_tolerant", options=["--survive", "--fault", "kill:1@60000"])
                for _ in range(RUNS)}
        self.assertEqual(len(seen), 1, seen)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
