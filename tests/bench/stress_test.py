# SPDX-License-Identifier: BSD-3-Clause
"""`sinew bench stress`: one program with the system's threads and with its threads as fibers.

stress_test.py SINEW CC SOURCES
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SINEW, CC, SOURCES = sys.argv[1:4]


class Stress(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def program(self, *words):
        path = os.path.join(self.folder, "stress")
        if not os.path.exists(path):
            subprocess.run([CC, "-O2", "-pthread", "-Wall", "-Wextra", "-Werror", "-o", path,
                            os.path.join(SOURCES, "stress.c")], check=True, timeout=60)
        return subprocess.run([path, *words], capture_output=True, text=True, timeout=60,
                              check=False)

    def test_fibers_and_threads(self):
        path = os.path.join(self.folder, "out.json")
        done = subprocess.run([SINEW, "bench", "stress", "--quick", "--repeat", "1", "--json",
                               path], capture_output=True, text=True, timeout=90, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["results"]
        seen = {(r["subject"], r["case"], r["params"]["threads"]): r["median"] for r in rows}
        self.assertEqual({(s, c, t) for s in ("sinew", "pthread")
                          for c in ("mutex", "condition", "queue") for t in (2, 64, 1000)},
                         set(seen))
        self.assertGreater(min(seen.values()), 0)

    def test_wrong_words_are_refused(self):
        for words in (["threads=1"], [], ["threads=4", "budget_ms=0"], ["thread=4"]):
            done = self.program(*words)
            self.assertEqual(2, done.returncode, words)
            self.assertRegex(done.stderr, "^(usage: stress|stress: what is)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
