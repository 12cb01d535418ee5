# SPDX-License-Identifier: BSD-3-Clause
"""`sinew info transports --hosts`: who reaches whom, by what, how fast; and who does not.

transports_test.py SINEW
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.argv.insert(2, "")  # no probe
import over_hosts  # noqa: E402
import support  # noqa: E402
from over_hosts import AGENT, SET, SINEW, TOOL, OverHosts, tool  # noqa: E402


def info(*words):
    return support.run(sys.executable, str(TOOL), "--set", SET, "login", SINEW, "info",
                       "transports", "--rsh", AGENT, *words)


class Transports(OverHosts):
    count = 3

    def test_each_pair_has_transports_and_a_latency(self):
        done = info("--hosts", "h1,h2", "--json")
        self.assertEqual((done.code, done.err), (0, ""))
        rows = json.loads(done.out)["transports"]
        self.assertEqual([(row["from"], row["to"]) for row in rows],
                         [("h1", "h1"), ("h1", "h2"), ("h2", "h1"), ("h2", "h2")])
        for row in rows:
            self.assertEqual(row["transports"], "shm" if row["from"] == row["to"] else "tcp/eth0")
            self.assertGreater(float(row["latency_us"]), 0)
            self.assertEqual(row["problem"], "")

    def test_the_table(self):
        done = info("--hosts", "h1,h3")
        self.assertEqual((done.code, done.err), (0, ""))
        lines = done.out.splitlines()
        self.assertRegex(lines[0], r"h1 +h3$")
        self.assertRegex(lines[2], r"^h1 +shm [\d.]+ +tcp/eth0 [\d.]+$")
        self.assertEqual(len(lines), 4)

    def test_a_host_that_is_not_there_has_a_sentence_and_the_others_are_shown(self):
        done = info("--hosts", "h1,h9,h2")
        self.assertEqual(done.code, 1)
        self.assertEqual(done.out.count("the host h9 cannot be used"), 1)
        self.assertRegex(done.out, r"(?m)^h1 +shm [\d.]+ +- +tcp/eth0 [\d.]+$")

    def test_a_host_that_the_others_do_not_reach(self):
        self.assertEqual(tool("cut", "h3").returncode, 0)
        self.addCleanup(tool, "join", "h3")
        done = info("--hosts", "h1,h3")
        self.assertEqual(done.code, 1)
        self.assertRegex(done.out, r"(?m)^h1 and h3: ")
        self.assertRegex(done.out, r"(?m)^h3 +- +shm [\d.]+$")

    def test_words_that_make_no_sense(self):
        done = support.run(SINEW, "info", "config", "--hosts", "h1")
        self.assertEqual(done.code, 2)
        self.assertIn("sinew info transports --hosts h1,h2", done.err)


if __name__ == "__main__":
    over_hosts.main()
