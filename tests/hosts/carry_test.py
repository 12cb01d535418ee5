# SPDX-License-Identifier: BSD-3-Clause
"""Plans carried out over hosts that limited cables join; every byte is checked by the program.

carry_test.py SINEW PROBE, where the probe is bench-carry
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
import support  # noqa: E402
from over_hosts import AGENT, PROBE, SET, SINEW, TOOL, OverHosts, run, tool  # noqa: E402


def sent(host, kind):
    """Bytes that a host has sent by its cables (`torus`) or by the common bridge (`eth0`)."""
    files = "up*" if kind == "torus" else "eth0"
    done = tool("exec", host, "sh", "-c", f"cat /sys/class/net/{files}/statistics/tx_bytes")
    return sum(int(line) for line in done.stdout.split())


def bench(*words):
    return support.run(sys.executable, str(TOOL), "--set", SET, "login", SINEW, "bench", "--rsh",
                       AGENT, *words, limit=100, env={"UCX_NET_DEVICES": "torus"})


class Carry(OverHosts):
    @classmethod
    def setUpClass(cls):
        done = tool("up", "--links", "2x2", "--rate", "100M")
        assert done.returncode == 0, done.stderr

    def test_patterns_go_by_default_routes_and_by_plans(self):
        before = {kind: sent("h1", kind) for kind in ("torus", "eth0")}
        done = run(*over_hosts.BOUND, "-x", "UCX_NET_DEVICES=torus", PROBE, "links", "2x2",
                   "200000", hosts="h1:1,h2:1,h3:1,h4:1")
        self.assertEqual((done.code, done.err), (0, ""))
        rows = [line.split() for line in done.out.splitlines() if line.startswith("@ ")]
        values = {(row[1], row[2]): float(row[5]) for row in rows}
        for pattern in ("disjoint", "overlap", "subset", "incast"):
            for metric in ("default", "plan", "gain", "predicted-gain", "simulated-flows"):
                self.assertGreater(values[pattern, metric], 0)
        # Half of the ways of a 2x2 torus are free on default routes.
        self.assertGreater(values["disjoint", "predicted-gain"], 1.5)
        # 4 patterns, twice, 4 times, at least 200 kB: and by the cables, not by the bridge.
        self.assertGreater(sent("h1", "torus") - before["torus"], 32 * 200000)
        self.assertLess(sent("h1", "eth0") - before["eth0"], 2000000)


    def test_bench_measures_them(self):
        path = Path(SINEW).parents[1] / f"bench-carry-{os.getpid()}.json"
        self.addCleanup(path.unlink, missing_ok=True)
        words = ("carry", "--quick", "--repeat", "1", "--shape", "2x2", "--json", str(path))
        done = bench(*words, "--hosts", "h1,h2,h3,h4")
        self.assertEqual(done.code, 0, done.out + done.err)
        rows = {(r["case"], r["metric"]): r for r in json.loads(path.read_text())["results"]}
        for pattern in ("disjoint", "overlap", "subset", "incast"):
            for metric in ("default", "plan", "gain", "predicted-gain", "simulated-chunks"):
                self.assertGreater(rows[pattern, metric]["median"], 0)
        for words, sentence in (((), "name it: --shape"),
                                (("--shape", "2x2"), "is of 4 hosts, and --hosts names 2"),
                                (("--shape", "cube"), "cube")):
            done = bench("carry", *words, "--hosts", "h1,h2")
            self.assertNotEqual(done.code, 0)
            self.assertIn(sentence, done.err)


if __name__ == "__main__":
    over_hosts.main()
