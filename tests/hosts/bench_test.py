# SPDX-License-Identifier: BSD-3-Clause
"""`sinew bench --hosts`: rows of ours and of ucx_perftest, and what is refused.

bench_test.py SINEW
"""
import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.argv.insert(2, "")  # no probe
import over_hosts  # noqa: E402
import support  # noqa: E402
from over_hosts import AGENT, SET, SINEW, TOOL, OverHosts  # noqa: E402


def bench(*words, **how):
    how.setdefault("limit", 250)
    return support.run(sys.executable, str(TOOL), "--set", SET, "login", SINEW, "bench", "--rsh",
                       AGENT, *words, **how)


class Bench(OverHosts):
    count = 3

    def results(self, *words):
        """Rows by case, metric, bytes and subject, and the commands that were started."""
        path = Path(SINEW).parents[1] / f"bench-hosts-{os.getpid()}.json"
        self.addCleanup(path.unlink, missing_ok=True)
        done = bench("--quick", "--repeat", "1", "--json", str(path), *words)
        self.assertEqual(done.code, 0, done.out + done.err)
        document = json.loads(path.read_text())
        rows = {(r["case"], r["metric"], r["params"].get("bytes"), r["subject"]): r
                for r in document["results"]}
        return done, rows, document["run"]["commands"]

    def test_latency_stands_beside_the_floor_and_the_peers(self):
        done, rows, commands = self.results("latency", "--hosts", "h1,h2")
        self.assertIn("h1:1,h2:1, which reach each other by tcp/eth0", done.out)
        ours = rows["one-way", "latency", 8, "sinew"]
        self.assertGreater(ours["median"], 1000)  # a message of one host takes less
        if shutil.which("ucx_perftest"):
            self.assertGreater(rows["one-way", "latency", 8, "floor"]["median"], 1000)
            self.assertEqual(rows["one-way", "latency", 1048576, "floor"]["unit"], "ns")
            self.assertIn("vs ucx_perftest", done.out)
        else:
            self.assertIn("floor: failed: ", done.out)
            self.assertRegex(done.out, "there is no ucx_perftest on h[12]")  # whoever is last
        # A peer that is here was measured, or there is a sentence why it was not.
        for subject in {c["subject"] for c in commands} - {"sinew", "floor"}:
            if ("one-way", "latency", 8, subject) not in rows:
                self.assertRegex(done.out, rf"(?m)^{subject}: failed: .")
        self.assertEqual(list(Path(SINEW).parents[1].glob("bench-cache/agent-*")), [])

    def test_one_collective_over_all_ranks_of_the_hosts(self):
        _, rows, _ = self.results("barrier", "--peers", "none", "--hosts", "h1:2,h2:1,h3:1")
        self.assertEqual({key[0] for key in rows}, {"barrier"})
        self.assertEqual(rows["barrier", "latency", 0, "sinew"]["params"]["ranks"], 4)

    def test_events_and_locks_on_one_host_and_on_two(self):
        path = Path(SINEW).parents[1] / f"bench-hosts-{os.getpid()}.json"
        self.addCleanup(path.unlink, missing_ok=True)
        done = bench("events", "locks", "--quick", "--repeat", "1", "--json", str(path),
                     "--hosts", "h1,h2")
        self.assertEqual(done.code, 0, done.out + done.err)
        document = json.loads(path.read_text())
        rows = {(r["case"], r["params"]["ranks"], r["params"].get("figure"), r["subject"]): r
                for r in document["results"] if r["params"].get("over") == "hosts"}
        # A link of a chain is a message where there are two hosts, and nothing of the kind on one.
        chain = [rows["chain", ranks, None, "sinew"]["median"] for ranks in (1, 2)]
        self.assertLess(chain[0], 1000)
        self.assertGreater(chain[1], 1000)
        self.assertGreater(rows["chain", 2, None, "floor"]["median"], 1000)
        self.assertIn("vs floor", done.out)
        for ranks in (1, 2):
            self.assertGreater(rows["chains", ranks, "total-1024", "sinew"]["median"], 0)
            self.assertIn(("chains", ranks, "total-1024", "paper"), rows)
        self.assertIn("h1:1,h2:1, which reach each other by tcp/eth0", document["run"]["hosts"])

    def test_reductions_of_two_hosts_lose_nothing(self):
        program = Path(SINEW).parents[1] / "libexec" / "sinew" / "bench-reductions"
        for case, method, rows in (("dense", ["method=fold"], 1), ("sparse", [], 6)):
            done = over_hosts.run(*over_hosts.BOUND, str(program), "over=hosts", f"case={case}",
                                  "tasks=1", "budget_ms=1", *method, hosts="h1:1,h2:1")
            self.assertEqual((done.code, done.err), (0, ""))  # the program compares sums
            self.assertEqual(done.out.count(f"@ {case} rate Mred/s method="), rows, done.out)
            self.assertEqual(done.out.count("ranks=2,tasks=1,over=hosts "), rows, done.out)

    def test_a_rank_that_computes_on_another_host(self):
        _, rows, _ = self.results("busy", "--hosts", "h1,h2")
        for what in ("get", "trigger", "lock", "task"):
            self.assertGreater(rows[what, "median", None, "sinew"]["median"], 1)

    def test_hosts_that_do_not_reach_each_other_end_it_before_anything_is_measured(self):
        done = bench("latency", "--peers", "none", "--hosts", "h1,h9")
        self.assertEqual(done.code, 1)
        self.assertIn("the host h9 cannot be used", done.err)
        self.assertEqual(done.out, "")

    def test_words_that_make_no_sense(self):
        for words, sentence in ((["table", "--hosts", "h1,h2"], "table is of one machine"),
                                (["latency", "--hosts", "h1"], "needs two hosts at least"),
                                (["latency"], "--rsh is for --hosts or --hostfile")):
            with self.subTest(words):
                done = bench(*words)
                self.assertEqual(done.code, 2, done.out + done.err)
                self.assertIn(sentence, done.err)


if __name__ == "__main__":
    over_hosts.main()
