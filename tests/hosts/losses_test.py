# SPDX-License-Identifier: BSD-3-Clause
"""Ranks and connections that are lost while others wait for them: what is told is the cause. And
interfaces by which hosts cannot reach each other. Words:
sinew, boot_probe and launched."""
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
from over_hosts import OverHosts, processes, tool  # noqa: E402

PROGRAM = sys.argv[3]
SEED = int(os.environ.get("SINEW_TEST_SEED", "11"))
KILLS = int(os.environ.get("SINEW_TEST_KILLS", "6"))


class Lost(OverHosts):
    count = 2

    def waiting_for(self, victim, *words):
        """A job whose other ranks wait in a barrier for this one, whose pid is returned."""
        self.begin(*words, PROGRAM, "pause", str(victim))
        for _ in range(4):  # each tells its number before it waits
            self.assertIn(b": good", self.started.stdout.readline())
        mine = f"PMI_RANK={victim}".encode()
        return next(pid for pid in processes("launched", "pause")
                    if mine in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))

    def test_a_rank_that_is_killed(self):
        print("seed", SEED, flush=True)
        chance = random.Random(SEED)
        for _ in range(KILLS):
            victim = chance.randrange(4)
            pid = self.waiting_for(victim)
            os.kill(pid, signal.SIGKILL)
            code, err = self.end()
            self.assertEqual(code, 137, err)
            self.assertRegex(err, f"rank {victim} of 4 .*on h{victim // 2 + 1}\\) was killed by")

    def test_a_rank_that_is_killed_where_ucx_matches_and_does_not_tell(self):
        pid = self.waiting_for(3, "-x", "SINEW_NET_MATCHING=on")
        os.kill(pid, signal.SIGKILL)
        code, err = self.end()
        self.assertEqual(code, 137, err)
        self.assertRegex(err, "rank 3 of 4 .*on h2\\) was killed by")

    def test_its_daemon_is_late_to_tell(self):
        # The others' connections are gone at once; the cause is heard seconds later.
        pid = self.waiting_for(2, "--host-timeout", "30")
        daemon = next(int(line.split()[1]) for line in
                      Path(f"/proc/{pid}/status").read_text().splitlines()
                      if line.startswith("PPid:"))
        os.kill(daemon, signal.SIGSTOP)
        os.kill(pid, signal.SIGKILL)
        time.sleep(4.5)
        os.kill(daemon, signal.SIGCONT)
        code, err = self.end()
        self.assertEqual(code, 137, err)
        self.assertRegex(err, "rank 2 of 4 .*on h2\\) was killed by SIGKILL")

    def test_a_connection_that_breaks(self):
        self.waiting_for(2)
        # The kernel's own means to end connections; the ports of ranks are those of no daemon.
        done = tool("exec", "h2", "sh", "-c", "ss -Hntp state established | grep launched")
        if done.stdout == "":
            self.skipTest("no connections can be seen: " + done.stderr)
        ports = sorted({line.split()[2].rsplit(":", 1)[1] for line in done.stdout.splitlines()})
        broken = tool("exec", "h2", "ss", "-K", "sport", "=", ports[0])
        left = tool("exec", "h2", "ss", "-Hnt", "state", "established", "sport", "=", ports[0])
        if broken.returncode != 0 or left.stdout:
            self.started.terminate()
            self.skipTest("this kernel does not end connections")
        code, err = self.end()
        self.assertEqual(code, 1, err)
        self.assertRegex(err, "on h[12]\\) has lost its connection to rank . .*on h[12]\\).*both "
                         "run: the network between their hosts does not work")

    def test_a_bridge_of_containers_on_each_host(self):
        """With the same address everywhere, as container engines make them."""
        for host in ("h1", "h2"):
            made = tool("exec", host, "sh", "-c", "ip link add docker0 type bridge && ip addr add "
                        "172.17.0.1/16 dev docker0 && ip link add c0 type veth peer name c1 && "
                        "ip link set c0 master docker0 up && ip link set c1 up && "
                        "ip link set docker0 up")
            self.assertEqual(made.returncode, 0, made.stderr)
            self.addCleanup(tool, "exec", host, "sh", "-c", "ip link del docker0; ip link del c0")
        done = over_hosts.run("--timeout", "30", PROGRAM, "sum")
        self.assertEqual((done.code, done.err), (0, ""))
        done = over_hosts.run("-x", "SINEW_NET_INTERFACES=eth0", PROGRAM, "sum")
        self.assertEqual((done.code, done.err), (0, ""))
        done = over_hosts.run("-x", "SINEW_NET_INTERFACES=eth7", PROGRAM, "sum")
        self.assertNotEqual(done.code, 0)
        self.assertRegex(done.err, "names eth7 .*it has lo,.*eth0")
        done = over_hosts.run("-x", "SINEW_NET_TRANSPORTS=nonsense", PROGRAM, "sum")
        self.assertNotEqual(done.code, 0)
        self.assertIn("cannot open the network", done.err)


if __name__ == "__main__":
    over_hosts.main(4)
