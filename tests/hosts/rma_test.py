# SPDX-License-Identifier: BSD-3-Clause
"""One-sided access between hosts: every kind of it, and heaps that do not agree."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
from over_hosts import PROBE, OverHosts, run  # noqa: E402


class OneSided(OverHosts):
    count = 2

    def test_every_access(self):
        for what in ("ring", "mix"):
            for hosts in ("h1,h2", "h1:2,h2:2", "h1:1,h2:3"):
                done = run(PROBE, what, hosts=hosts)
                self.assertEqual((done.code, done.out, done.err), (0, "", ""), (what, hosts))

    def test_heaps_at_other_addresses(self):
        for hosts in ("h1,h2", "h1:2,h2:2"):
            done = run("setarch", "-R", PROBE, "shifted", hosts=hosts)
            self.assertEqual((done.code, done.out, done.err), (0, "", ""), hosts)

    def test_no_memory_may_be_locked(self):
        """As where `ulimit -l` lets an adapter register nothing."""
        for what in ("ring", "mix"):
            done = run("sh", "-c", 'ulimit -l 0; exec "$0" "$@"', PROBE, what)
            self.assertEqual((done.code, done.out, done.err), (0, "", ""), what)

    def test_heaps_of_other_sizes(self):
        done = run("-n", "1", "-x", "SINEW_RMA_HEAP=8M", PROBE, "ring", ":",
                   "-n", "1", "-x", "SINEW_RMA_HEAP=9M", PROBE, "ring", hosts="h1,h2")
        self.assertNotEqual(done.code, 0)
        self.assertRegex(done.err, r"the heap of rank [01] cannot be reached.*[89] MiB and .*"
                                   r"SINEW_RMA_HEAP and SINEW_RMA_LOCAL_HEAP the same values")


if __name__ == "__main__":
    over_hosts.main()
