# SPDX-License-Identifier: BSD-3-Clause
"""Events, locks, barriers, tasks and regions over two hosts of two ranks each.

events_test.py SINEW BETWEEN WORK_SHARING EXAMPLES
"""
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
BETWEEN, WORK_SHARING, EXAMPLES = sys.argv[2:5]
import over_hosts  # noqa: E402


class Events(over_hosts.OverHosts):
    count = 2

    def test_everybody_sees_the_same_of_everybodys_handles(self):
        done = over_hosts.run(*over_hosts.BOUND, "-x", "SINEW_EVENT_LOCAL_GRANTS=2", BETWEEN)
        self.assertEqual(done.code, 0, done.err)
        self.assertRegex(done.out, "a lock of 4 ranks: at most [123] grants in a row")

    def test_work_goes_to_the_ranks_that_are_free(self):
        done = over_hosts.run(*over_hosts.BOUND, WORK_SHARING)
        self.assertEqual(done.code, 0, done.err)
        found = [int(n) for n in re.findall(r"has found (\d+) primes of 9592", done.out)]
        self.assertEqual((len(found), sum(found)), (4, 9592), done.out)

    def test_regions_hold_the_same_as_on_one_node(self):
        for example, says in [("histogram", "all agree"),
                              ("stencil_events", "as one process computes them"),
                              ("producer_consumer", "as it should be")]:
            done = over_hosts.run(*over_hosts.BOUND, str(Path(EXAMPLES) / example))
            self.assertEqual(done.code, 0, done.err)
            self.assertIn(says, done.out)

    def test_a_routed_exchange(self):
        done = over_hosts.run(*over_hosts.BOUND, str(Path(EXAMPLES) / "route"), "2x2")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(done.out.count("bytes, all as sent"), 4)

    def test_long_rows_are_copied_between_all_ranks(self):
        done = over_hosts.run(*over_hosts.BOUND, str(Path(BETWEEN).parent /
                                                     "event_program_long_copies"))
        self.assertEqual((done.code, done.err), (0, ""))

    def test_a_trace_has_one_clock(self):
        """h2 has a clock of its own, as every host that was started at another time."""
        ahead = ("unshare", "--time", "--fork", "--kill-child", "--monotonic", "100000")
        if over_hosts.tool("exec", "h2", *ahead, "true").returncode != 0:
            self.skipTest("no time namespaces here")
        with tempfile.TemporaryDirectory(dir=Path(BETWEEN).parent) as folder:
            agent = Path(folder, "agent")
            tool = f"{sys.executable} {over_hosts.TOOL} --set {over_hosts.SET}"
            agent.write_text(f"#!/bin/sh\n[ $1 = h2 ] || exec {tool} rsh \"$@\"\nshift\n"
                             f"exec {tool} exec h2 {' '.join(ahead)} /bin/sh -c \"$*\"\n")
            agent.chmod(0o755)
            trace = Path(folder, "t.json")
            done = over_hosts.run("--trace", str(trace), str(Path(EXAMPLES) / "histogram"),
                                  agent=str(agent))
            self.assertEqual(done.code, 0, done.err)
            records = [r for r in json.loads(trace.read_text())["traceEvents"] if r["ph"] != "M"]
        first = [min(r["ts"] for r in records if r["pid"] == rank) for rank in range(4)]
        last = max(r["ts"] for r in records)
        self.assertGreaterEqual(min(first), 0)
        self.assertLess(last, done.seconds * 1e6)
        # They all begin with a barrier; what one rank waits for another does.
        self.assertLess(max(first), last)


if __name__ == "__main__":
    over_hosts.main(5)
