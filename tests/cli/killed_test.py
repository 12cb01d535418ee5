# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are killed in the middle of epochs, collective writes and other calls: the others wait
for them in memory that they share, and yet the job ends, and leaves nothing behind."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import PROBE, files_left, shared_files, sinew_run, survivors  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(PROBE), "killed_probe")


class Killed(unittest.TestCase):
    def ends(self, what, ranks):
        before = shared_files()
        with tempfile.TemporaryDirectory() as folder:
            result = sinew_run("-n", str(ranks), "--timeout", "60", PROGRAM, what,
                               os.path.join(folder, "file"), env={"TMPDIR": folder})
            left = [name for name in os.listdir(folder) if name != "file"]
        self.assertEqual((result.code, result.out), (137, ""), result.err)
        self.assertIn("rank %d of %d" % (ranks - 1, ranks), result.err)
        self.assertIn("killed by SIGKILL", result.err)
        self.assertEqual((survivors(), left, files_left(before)), ([], [], []))

    def test_in_epochs(self):
        for what in ("fence", "lock"):
            for ranks in (2, 3):
                with self.subTest(what=what, ranks=ranks):
                    self.ends(what, ranks)

    def test_in_writes_of_all(self):
        for what in ("write", "ordered"):
            for ranks in (2, 3):
                with self.subTest(what=what, ranks=ranks):
                    self.ends(what, ranks)

    def test_in_nonblocking_collectives_and_between_partitions(self):
        for what in ("collectives", "partitions"):
            with self.subTest(what=what):
                self.ends(what, 3)

    def test_while_another_copies_from_its_memory(self):
        """The launcher hears of the death late, as on a busy machine: it tells who died first."""
        self.ends("copies", 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
