"""Plans carried out over hosts that limited cables join; every byte is checked by the program.

carry_test.py SINEW PROBE, where the probe is bench-carry
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
from over_hosts import PROBE, OverHosts, run, tool  # noqa: E402


def sent(host, kind):
    """Bytes that a host has sent by its cables (`torus`) or by the common bridge (`eth0`)."""
    files = "up*" if kind == "torus" else "eth0"
    done = tool("exec", host, "sh", "-c", f"cat /sys/class/net/{files}/statistics/tx_bytes")
    return sum(int(line) for line in done.stdout.split())


class Carry(OverHosts):
    @classmethod
    def setUpClass(cls):
        done = tool("up", "--links", "2x2", "--rate", "100M")
        assert done.returncode == 0, done.stderr

    def test_patterns_go_by_default_routes_and_by_plans(self):
        before = {kind: sent("h1", kind) for kind in ("torus", "eth0")}
        done = run("--timeout", "100", "-x", "UCX_NET_DEVICES=torus", PROBE, "links", "2x2",
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


if __name__ == "__main__":
    over_hosts.main()
