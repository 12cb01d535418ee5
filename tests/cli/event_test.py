# SPDX-License-Identifier: BSD-3-Clause
"""Programs of events under the launcher: the trace that --trace gathers, the report of a hang."""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import SINEW, sinew_run, start, survivors  # noqa: E402

HANG, HISTOGRAM, PRODUCERS = sys.argv[3:6]


def check_page(test, ranks, path):
    """The page beside the trace: its picture has a text for those who cannot see it."""
    with open(path, encoding="utf-8") as text:
        page = text.read()
    picture = xml.dom.minidom.parseString(page[page.index("<svg"):page.index("</svg>") + 6])
    for tag in ("title", "desc"):
        test.assertEqual(len(picture.getElementsByTagName(tag)), 1)
    words = [node.firstChild.data for node in picture.getElementsByTagName("text")]
    for rank in range(ranks):
        test.assertIn("rank %d" % rank, words)
    test.assertNotIn("rank %d" % ranks, words)
    test.assertIn("event", words)
    test.assertGreater(len(picture.getElementsByTagName("rect")), 10)
    test.assertNotIn("<script", page)
    test.assertNotRegex(page, r"(src|href)=")
    test.assertRegex(page, r"<th scope=\"row\">triggered</th><td>event</td><td>[1-9]")


def trace_of(test, ranks, program):
    """What a run has recorded, by category, and checks that hold for every trace."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.json")
        result = sinew_run("-n", str(ranks), "--trace", path, program)
        test.assertEqual(result.code, 0, result.err)
        # The ranks' parts are gone.
        test.assertEqual(sorted(os.listdir(folder)), ["t.html", "t.json"])
        check_page(test, ranks, os.path.join(folder, "t.html"))
        with open(path, encoding="utf-8") as text:
            records = json.load(text)["traceEvents"]
    test.assertRegex(result.err, r"trace of \d+ records")
    named = [r["args"]["name"] for r in records if r["ph"] == "M"]
    test.assertEqual([name.split(" (")[0] for name in named],
                     ["rank %d" % rank for rank in range(ranks)])
    spans = collections.Counter()
    begun = {}
    for each in (r for r in records if r["ph"] != "M"):
        test.assertIn(each["ph"], "beXi")
        test.assertGreaterEqual(each["ts"], 0)
        test.assertIn(each["pid"], range(ranks))
        if each["ph"] == "b":
            begun[each["id"]] = each
        elif each["ph"] == "e":
            opened = begun.pop(each["id"])
            test.assertEqual((opened["name"], opened["pid"]), (each["name"], each["pid"]))
            test.assertLessEqual(opened["ts"], each["ts"])
        if each["ph"] != "e":
            spans[each["cat"], each["name"]] += 1
    test.assertEqual(begun, {})
    return spans


class Trace(unittest.TestCase):
    def test_copies_reductions_locks_and_events(self):
        spans = trace_of(self, 2, HISTOGRAM)
        for wanted in (("copy", "copy"), ("copy", "fill"), ("copy", "reduce"), ("copy", "replay"),
                       ("lock", "wait"), ("event", "triggered"), ("event", "wait")):
            self.assertGreater(spans[wanted], 0, (wanted, spans))
        # Two of its six ways lock, once on each rank.
        self.assertEqual(spans["lock", "hold"], 4)

    def test_tasks_and_the_locks_they_hold(self):
        spans = trace_of(self, 2, PRODUCERS)
        # 200 items of each rank, and rank 0 empties the buffer after every 50 of its own.
        self.assertEqual(spans["task", "put"], 400)
        self.assertEqual(spans["task", "take"], 4)
        self.assertEqual(spans["lock", "hold"], 404)
        self.assertGreater(spans["event", "triggered"], 404)

    def test_a_place_that_cannot_be_written(self):
        result = sinew_run("-n", "1", "--trace", "/nowhere/t.json", HISTOGRAM)
        self.assertNotEqual(result.code, 0)
        self.assertIn("/nowhere/t.json", result.err)


class Hang(unittest.TestCase):
    WANTED = (
        # Rank 1 says what it waits for, and whom that waits for.
        r'rank 1: .*"bread": waits for 1 event',
        r"event \d+\.\d+ of rank 0: awaited here",
        # Rank 0 says that it is its own part, by name, and who waits: both on its own and asked.
        r'rank 0, asked by rank 1:.*"the harvest": nobody has triggered',
        r'rank 0: .*"the harvest": nobody has triggered it; waited for',
    )

    LOCKED = (
        r"rank 0: .*reservation 0 of rank 1 .*: 1 wait here, 0 hold it here, the lock is",
        r"rank 1, asked by rank 0: reservation 0 of rank 1 .*: 1 hold it here",
    )

    def test_both_sides_are_told(self):
        self.tells(2, (), self.WANTED)

    def test_a_task_whose_event_never_triggers_at_the_end_of_the_program(self):
        self.tells(1, ("task",), (
            r'"the key": nobody has triggered it',
            r"1 task has not ended, and the end of the program waits for that",
            r'"open the door" starts after event \d+\.\d+ of rank 0, which has not triggered',
        ))

    def test_ranks_that_do_not_start_their_tasks(self):
        self.tells(2, ("start",), (r"rank 0: .*tasks::start\(\) waits: not all ranks",))

    def test_a_fence_to_which_not_all_ranks_come(self):
        self.tells(2, ("fence",), (r"not all ranks have come", r"rank 1: 1 events have not"))

    def test_the_holder_of_a_lock_answers(self):
        self.tells(2, ("lock",), self.LOCKED)

    def tells(self, ranks, words, wanted):
        job = start(SINEW, "run", "-n", str(ranks), "--timeout", "100", HANG, *words,
                    stdout=subprocess.DEVNULL, env={"SINEW_CORE_HANG_TIMEOUT": "1"})
        told = ""
        while not all(re.search(each, told) for each in wanted):
            line = job.stderr.readline().decode()
            if not line:
                break  # the time was up
            told += line.replace("\n", " ")
        job.terminate()
        job.communicate(timeout=100)
        for each in wanted:
            self.assertRegex(told, each)
        self.assertEqual(job.returncode, 143)
        self.assertEqual(survivors(), [])


class Uncaught(unittest.TestCase):
    def test_errors_end_with_the_rank_and_the_cause(self):
        for how in ("throw", "fire", "fiber"):
            with self.subTest(how):
                result = sinew_run("-n", "2", HANG, how)
                self.assertEqual(result.code, 134, result.err)
                self.assertRegex(result.err, r"an exception ends rank 1 of 2 .*cannot trigger an "
                                             r"event \(it has triggered")
                self.assertIn("trigger each user event once", result.err)
                self.assertIn("backtrace, innermost call first", result.err)
                self.assertNotIn("terminate called", result.err)
                self.assertEqual(survivors(), [])

    def test_an_activity_says_what_it_failed_by(self):
        result = sinew_run("-n", "1", HANG, "activity")
        self.assertEqual(result.code, 0, result.err)
        self.assertRegex(result.err, r"an activity has failed: cannot trigger an event")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
