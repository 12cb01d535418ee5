# SPDX-License-Identifier: BSD-3-Clause
"""Wrong programs are told what is wrong, with the line; right ones nothing.

usage: mistakes_test.py SINEW BOOT_PROBE MPI_MISTAKES
"""

import concurrent.futures
import json
import sys
import tempfile
import unittest
from pathlib import Path

from support import SINEW, run

PROGRAM = sys.argv[3]
SOURCE = Path(__file__).with_name("mpi_mistakes.c").read_text().splitlines()
CHECKED = {"SINEW_MPI_CHECK": "1"}


def lines_marked(case):
    """What stands for the lines that the source marks with that case, and for the ones before, in
    which a call of several lines may begin."""
    return [f"mpi_mistakes.c:{i - back}" for i, text in enumerate(SOURCE, 1) for back in (0, 1)
            if f"/* {case} */" in text]


def go(case, how, env=None):
    return run(SINEW, "run", "-n", "2", "--timeout", "60", PROGRAM, case, how,
               env=CHECKED if env is None else env)


class Mistakes(unittest.TestCase):
    maxDiff = None
    cases = dict(line.split("\t") for line in run(PROGRAM, "list").out.splitlines())

    def judge(self, case, told):
        wrong = go(case, "wrong")
        if not told:
            return [] if (wrong.code, wrong.err) == (0, "") else [f"{case}: {wrong.err}"]
        problems = []
        if not any(each in wrong.err for each in told.split(" | ")):
            problems.append(f"{case}: no '{told}' in: {wrong.err or wrong.code}")
        marked = lines_marked(case)
        if marked and not any(line in wrong.err for line in marked):
            problems.append(f"{case}: no line of {marked} in: {wrong.err}")
        right = go(case, "right")
        if (right.code, right.err) != (0, ""):
            problems.append(f"{case}, right: {right.code} {right.err}")
        return problems

    def test_each_is_named_and_its_right_twin_is_silent(self):
        self.assertGreater(len(self.cases), 60)
        with concurrent.futures.ThreadPoolExecutor(4) as several:
            found = several.map(lambda one: self.judge(*one), self.cases.items())
            self.assertEqual([each for some in found for each in some], [])

    def test_a_list_chooses(self):
        for chosen, told in (("leaks", "MPI_Comm_dup"), ("kinds,buffers", "")):
            done = go("comm_dup", "wrong", {"SINEW_MPI_CHECK": chosen})
            self.assertEqual(done.code, 0)
            self.assertIn(told, done.err)
            self.assertEqual(done.err == "", told == "")
        done = go("kind", "wrong", {"SINEW_MPI_CHECK": "buffers"})
        self.assertEqual((done.code, done.err), (0, ""))
        done = go("kind", "wrong", {"SINEW_MPI_CHECK": "kind"})
        self.assertNotEqual(done.code, 0)
        self.assertIn("collectives", done.err)

    def test_leaks_fail_if_asked_and_all_is_reported_as_json(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "found.json")
            env = CHECKED | {"SINEW_MPI_CHECK_FAILS": "1", "SINEW_MPI_CHECK_REPORT": str(file)}
            done = go("comm_dup", "wrong", env)
            self.assertEqual(done.code, 1)
            self.assertIn("ranks 0-1: a communicator has not been freed", done.err)
            self.assertNotEqual(go("two_receives", "wrong", env).code, 0)
            found = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual(found[0]["ranks"], "0-1")
        self.assertIn("MPI_Comm_dup", found[0]["finding"])
        self.assertTrue(all(each["class"] == "MPI_ERR_BUFFER" for each in found[1:]), found)
        self.assertGreater(len(found), 1)

    def test_an_error_says_its_line_without_the_checks(self):
        done = go("bad_rank", "wrong", {})
        self.assertTrue(any(line in done.err for line in lines_marked("bad_rank")), done.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
