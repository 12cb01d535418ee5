# SPDX-License-Identifier: BSD-3-Clause
"""What ranks that wait for ever say: after SINEW_CORE_HANG_TIMEOUT, and when --timeout is over.

usage: hang_test.py SINEW BOOT_PROBE MPI_HANG
"""

import os
import re
import sys
import unittest

from support import SINEW, sinew_run, start, survivors

HANG = sys.argv[3]

# What rank 0 is in, and what it says.
WANTED = [
    ("test", r"tested, probed.*receive from rank 1, tag 17"),
    ("testall, slowly", r"tested, probed.*receive from rank 1, tag 17"),
    ("probe", r"still waits.*probe from rank 1, tag 23, of MPI_COMM_WORLD"),
    ("probe any", r"still waits.*probe from any source, any tag"),
    ("iprobe", r"tested, probed.*last probe without success from rank 1, tag 29"),
    ("recv", r"still waits.*receive from rank 1, tag 31"),
    ("ssend", r"still waits.*sends to rank 1 whose receive has not been posted: 1"),
    ("bcast", r"MPI_COMM_WORLD: in MPI_Bcast, root 1 \(call number 2\).*waits for rank 1"),
    ("reduce", r"MPI_COMM_WORLD: in MPI_Reduce, root 0 \(call number 2\).*waits for rank 1"),
    ("barrier", r"MPI_COMM_WORLD: in MPI_Barrier \(call number 2\).*waits for rank 1"),
    ("finalize", r"MPI_COMM_WORLD: in MPI_Finalize \(call number 2\).*waits for rank 1"),
    ("fence", r"in MPI_Win_fence \(call number \d+\).*waits for rank 1"),
    ("win_free", r"in MPI_Win_free \(call number \d+\).*waits for rank 1"),
    ("disconnect", r"in MPI_Comm_disconnect \(call number \d+\).*waits for rank 1"),
    ("dup", r"MPI_COMM_WORLD: in the making of a communicator \(call number 2\)"),
]


class Hang(unittest.TestCase):
    def told(self, pattern, *words, ranks=2, env=None):
        """Reads what the job says until that is there; then it is ended."""
        job = start(SINEW, "run", "-n", str(ranks), "--timeout", "100", *words,
                    env={"SINEW_CORE_HANG_TIMEOUT": "0.3"} | (env or {}))
        text = ""
        while not re.search(pattern, text):
            line = job.stderr.readline().decode()
            if not line:
                break  # the time was up
            text += line.replace("\n", " ")
        job.terminate()
        job.communicate(timeout=100)
        self.assertRegex(text, pattern)
        self.assertEqual(job.returncode, 143)

    def test_what_is_waited_for(self):
        for threads in ("", "threads"):
            for what, pattern in WANTED:
                with self.subTest(what=what, threads=threads):
                    self.told(r"sinew: rank 0 .*" + pattern, HANG, what, threads)
        self.assertEqual(survivors(), [])

    def test_collectives_over_shared_memory(self):
        for threads in ("later", "later, threads"):
            for what, name in (("bcast", "MPI_Bcast, root 1"), ("reduce", "MPI_Reduce, root 0"),
                               ("barrier", "MPI_Barrier")):
                with self.subTest(what=what, threads=threads):
                    self.told(r"sinew: rank 0 .*MPI_COMM_WORLD: in " + name +
                              r" \(call number 7\).*waits for rank 1", HANG, what, threads)
        self.assertEqual(survivors(), [])

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(SINEW), "..", "lib",
                                                     "libsinew_ucx.so")), "needs UCX")
    def test_collectives_by_levels(self):
        # Ranks 2 and 3 are on the second of two nodes, its members 0 and 1.
        self.told(r"sinew: rank 2 .*MPI_COMM_WORLD: in MPI_Barrier \(call number 7\).*"
                  r"waits for rank 3", HANG, "barrier", "later", "3", ranks=4,
                  env={"SINEW_FABRIC_NODES": "2"})
        self.assertEqual(survivors(), [])

    def test_agreements_that_wait_for_each_other(self):
        agree, shrink = "MPIX_Comm_agree of MPI_COMM_WORLD", "MPIX_Comm_shrink of "
        for what, comm in (("shrink, one", "MPI_COMM_WORLD"),
                           ("shrink, another", r"communicator \d+")):
            for rank, own, other in ((0, shrink + comm, agree), (1, agree, shrink + comm)):
                with self.subTest(what=what, rank=rank):
                    self.told(rf"sinew: rank {rank}, agreements: +{own} +waits for the vote of "
                              rf"rank {1 - rank} of the job, which is in {other}",
                              "--survive", HANG, what)
        self.assertEqual(survivors(), [])

    def test_when_the_time_is_up(self):
        for what, pattern in WANTED:
            if what not in ("test", "probe", "recv", "bcast"):
                continue  # they differ in the sentence alone
            with self.subTest(what=what):
                # Long enough to come there, on a busy machine too.
                done = sinew_run("-n", "2", "--timeout", "4", HANG, what)
                self.assertEqual(done.code, 124, done.err)
                self.assertIn("the time is up (--timeout)", done.err)
                pattern = re.sub(r"^(still waits|tested, probed)", "job's time is up", pattern)
                self.assertRegex(done.err.replace("\n", " "), r"sinew: rank 0 .*" + pattern)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
