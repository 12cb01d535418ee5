# SPDX-License-Identifier: BSD-3-Clause
"""The trace of an MPI program: a rank's waits, by the call that it waits in.

trace_test.py SINEW PROBE PROGRAM
"""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import sinew_run  # noqa: E402

PROGRAM = sys.argv[3]


class Trace(unittest.TestCase):
    def test_waits_have_the_names_of_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.json")
            done = sinew_run("-n", "2", "--trace", path, PROGRAM)
            self.assertEqual(0, done.code, done.err)
            with open(path, encoding="utf-8") as file:
                records = json.load(file)["traceEvents"]
            with open(path[:-4] + "html", encoding="utf-8") as file:
                page = file.read()
        waits = {r["name"] for r in records if r["ph"] == "b" and r["pid"] == 0}
        for call in ("MPI_Recv", "MPI_Wait", "MPI_Barrier", "MPI_Allreduce"):
            self.assertIn(call, waits)
            self.assertIn(f'<th scope="row">{call}</th><td>sync</td>', page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
