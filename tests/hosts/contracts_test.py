# SPDX-License-Identifier: BSD-3-Clause
"""The contracts of rma and region, and the random programs of region and event, over two hosts.

contracts_test.py SINEW RMA REGION EVENT: the three unit tests' programs. Each process of a job is a
rank, and runs those tests that are of as many ranks as the job has (tests/support/launched.hpp).
SINEW_TEST_ROUNDS: so many random programs of each kind, from SINEW_TEST_SEED on.
"""
import os
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
RMA, REGION, EVENT = sys.argv[2:5]
import over_hosts  # noqa: E402

# Ranks as processes on several nodes; these want heaps of another size. (The last would pass where
# the answer to its request takes longer than twenty polls.)
CONTRACTS = ("*/nodes_processes:-Edges.NoRoomNamesTheSetting/*:"
             "Edges.WhatComesAndGoesLeavesOneLargePiece/*:Edges.WhatWasAcceptedIsNotRefusedLater/*:"
             "Edges.WhatIsNotMadeAfterAllGivesItsMemoryBack/*:"
             "Edges.SharedMemoryIsWaitedForAcrossRanks/*")
SEED = os.environ.get("SINEW_TEST_SEED", str(random.randrange(1 << 30)))
# A sparse file: each part of it is used once.
BOARD_BYTES = 1 << 36


class Contracts(over_hosts.OverHosts):
    count = 2

    def pass_over(self, hosts, program, tests, jobs):
        """At least so many of the jobs in these tests are of as many ranks, and all is well."""
        ranks = sum(int(host.split(":")[1]) for host in hosts.split(","))
        board = Path(program).parent / f"board-{os.getpid()}"
        words = [*over_hosts.BOUND, "-x", f"SINEW_TEST_BOARD={board}"]
        words += ["-x", f"SINEW_TEST_SEED={SEED}"]  # all ranks draw the same
        if "SINEW_TEST_ROUNDS" in os.environ:
            words += ["-x", f"SINEW_TEST_ROUNDS={os.environ['SINEW_TEST_ROUNDS']}"]
        board.touch()
        os.truncate(board, BOARD_BYTES)
        try:
            done = over_hosts.run(*words, program, f"--gtest_filter={tests}", hosts=hosts,
                                  limit=over_hosts.LONGEST)
        finally:
            board.unlink()
        self.assertEqual(done.code, 0, f"seed {SEED}\n{done.out[-5000:]}{done.err}")
        self.assertEqual(done.out.count("[  PASSED  ]"), ranks, done.out)
        self.assertGreaterEqual(done.out.count(f"a job of {ranks} launched ranks"), jobs)

    def test_memory_of_other_ranks(self):
        self.pass_over("h1:1,h2:1", RMA, CONTRACTS, jobs=20)
        self.pass_over("h1:2,h2:2", RMA, CONTRACTS, jobs=5)

    def test_regions(self):
        self.pass_over("h1:1,h2:1", REGION, CONTRACTS, jobs=20)
        self.pass_over("h1:2,h2:2", REGION, CONTRACTS, jobs=3)

    def test_events_tasks_locks_and_barriers(self):
        self.pass_over("h1:2,h2:2", EVENT, "random_orders.of_processes*", jobs=1)
        self.pass_over("h1:4,h2:4", EVENT, "random_orders.of_processes*", jobs=1)


if __name__ == "__main__":
    over_hosts.main(5)
