"""Events, locks, barriers, tasks and regions over two hosts of two ranks each.

events_test.py SINEW BETWEEN WORK_SHARING EXAMPLES
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
BETWEEN, WORK_SHARING, EXAMPLES = sys.argv[2:5]
import over_hosts  # noqa: E402


class Events(over_hosts.OverHosts):
    count = 2

    def test_everybody_sees_the_same_of_everybodys_handles(self):
        done = over_hosts.run("--timeout", "60", "-x", "SINEW_EVENT_LOCAL_GRANTS=2", BETWEEN)
        self.assertEqual(done.code, 0, done.err)
        self.assertRegex(done.out, "a lock of 4 ranks: at most [123] grants in a row")

    def test_work_goes_to_the_ranks_that_are_free(self):
        done = over_hosts.run("--timeout", "60", WORK_SHARING)
        self.assertEqual(done.code, 0, done.err)
        found = [int(n) for n in re.findall(r"has found (\d+) primes of 9592", done.out)]
        self.assertEqual((len(found), sum(found)), (4, 9592), done.out)

    def test_regions_hold_the_same_as_on_one_node(self):
        for example, says in [("histogram", "all agree"),
                              ("stencil_events", "as one process computes them"),
                              ("producer_consumer", "as it should be")]:
            done = over_hosts.run("--timeout", "60", str(Path(EXAMPLES) / example))
            self.assertEqual(done.code, 0, done.err)
            self.assertIn(says, done.out)


if __name__ == "__main__":
    over_hosts.main(5)
