# SPDX-License-Identifier: BSD-3-Clause
"""Daemons as a tree: some start others, by a real ssh from host to host. Width 2 and six hosts make
three levels: h1 and h2 below the launcher, h3 and h4 below h1, h5 and h6 below h2."""
import json
import re
import shutil
import signal
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
import sshd  # noqa: E402
from over_hosts import PROBE, SINEW, OverHosts, processes, support, tool  # noqa: E402

HOSTS = [f"h{number}" for number in range(1, 7)]


class Tree(OverHosts):
    count = len(HOSTS)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.mkdtemp(dir=Path(PROBE).parent)
        cls.agent = sshd.start(lambda host, line: tool("exec", host, "sh", "-c", line), HOSTS,
                               cls.folder)
        with open(f"{cls.folder}/config", "a") as config:  # an address that no host has
            config.write("Host h9\nHostName 10.77.0.9\n")

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def words(self, *words):
        return ("--host-tree", "2", *words)

    def hosts(self, each=1):
        return ",".join(f"{host}:{each}" for host in HOSTS)

    def run_tree(self, *words, each=1, **how):
        return over_hosts.run(*self.words(*words), agent=self.agent, hosts=self.hosts(each), **how)

    def begin_tree(self, *words):
        self.begin(*self.words(*words), agent=self.agent, hosts=self.hosts())

    def kill_daemon(self, host):
        """The oldest of that name: others are its watchdogs. Only what is on the host is seen."""
        done = tool("exec", host, "pkill", "-KILL", "-o", "-x", "sinew")
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless((Path(PROBE).parents[1] / "lib/libsinew_stacks.so").exists(), "no libdw")
    def test_all_are_asked_where_they_stand(self):
        self.begin_tree(PROBE, "sleep")
        self.wait_for(lambda: processes("boot_probe", "sleep"), len(HOSTS))
        asked = tool("login", SINEW, "status", "--json")
        places = json.loads(asked.stdout)
        self.assertEqual([each["rank"] for each in places], list(range(len(HOSTS))), asked.stderr)
        self.assertEqual([each.get("call") for each in places], [""] * len(HOSTS))
        self.started.terminate()
        self.assertEqual(self.end()[0], 143)

    def test_through_the_agents_alone(self):
        for words in ((), ("--through-agent",)):
            with self.subTest(words=words):
                self.begin_tree(*words, PROBE, "sleep")
                self.wait_for(lambda: processes("boot_probe", "sleep"), len(HOSTS))
                listening = {host: int(tool(
                    "exec", host, "sh", "-c", "cat /proc/net/tcp* | grep -c ' 0A '").stdout)
                    for host in HOSTS}
                # h1 and h2, who start others, beside what each host's sshd listens at.
                more = {host for host in HOSTS if listening[host] > min(listening.values())}
                self.assertEqual(more, set() if words else {"h1", "h2"})
                self.assertEqual(len(support.listening_sockets(self.started.pid)),
                                 0 if words else 1)
                self.started.send_signal(signal.SIGINT)
                self.assertEqual(self.end()[0], 130)

    def test_daemons_start_others(self):
        self.begin_tree(PROBE, "sleep")
        self.wait_for(lambda: processes("boot_probe", "sleep"), len(HOSTS))
        parents = {}
        for host in HOSTS:
            done = tool("exec", host, "sh", "-c", "pgrep -c -x ssh; true")
            parents[host] = int(done.stdout.strip() or 0)
        self.assertEqual(parents, {"h1": 2, "h2": 2, "h3": 0, "h4": 0, "h5": 0, "h6": 0})
        self.started.send_signal(signal.SIGINT)
        self.assertEqual(self.end()[0], 130)

    def test_all_goes_to_and_fro(self):
        done = self.run_tree(PROBE, "nodes", each=2)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines(), key=lambda line: int(line.split()[1])), [
            f"rank {rank} of 12, local {rank % 2} of 2, node {rank // 2} of 6: h{rank // 2 + 1}"
            for rank in range(12)])
        text = b"".join(b"line %d\n" % n for n in range(50000))
        done = self.run_tree("--stdin", "5", "wc", "-c", feed=text)
        self.assertEqual(sorted(done.out.split()), ["0"] * 5 + [str(len(text))])
        done = self.run_tree("-l", "seq", "50000")
        self.assertEqual(len(set(done.out.splitlines())), 6 * 50000)

    def test_codes(self):
        done = self.run_tree(PROBE, "abort", "5", "5")
        self.assertEqual(done.code, 5, done.err)
        self.assertRegex(done.err, r"rank 5 of 6 .*on h6\) aborted the job with code 5")
        done = self.run_tree("--timeout", "10", "sleep", "60")
        self.assertEqual(done.code, 124)
        self.assertIn("on h6: rank 5", done.err)
        done = self.run_tree("no-such-program")
        self.assertEqual(done.code, 127, done.err)
        done = over_hosts.run(*self.words("hostname"), agent=self.agent, hosts="h1,h2,h3,h9")
        self.assertEqual(done.code, 1)
        self.assertRegex(done.err, "^sinew run: the host h9 cannot be used: ssh ended with code "
                                   r"255: ssh: connect to host 10\.77\.0\.9 .*\n$")
        self.assertLess(done.seconds, 15)  # ssh itself gives up after 4

    def test_it_ends_as_soon_as_a_flat_job(self):
        """From what the last rank does to the launcher's end."""
        for width in ("32", "2", "1"):
            with self.subTest(width=width):
                done = over_hosts.run("--host-tree", width, "date", "+%s.%N", agent=self.agent,
                                      hosts=self.hosts())
                self.assertEqual((done.code, done.out.count("\n")), (0, 6), done.err)
                self.assertLess(time.time() - max(map(float, done.out.split())), 1)

    def test_a_daemon_that_is_killed(self):
        for victim in ("h1", "h4"):  # one that leads to others, and one below it
            with self.subTest(victim):
                self.begin_tree(PROBE, "sleep")
                self.wait_for(lambda: processes("boot_probe", "sleep"), len(HOSTS))
                self.kill_daemon(victim)
                code, err = self.end()
                self.assertEqual(code, 1)
                self.assertRegex(err, f"the daemon on the host {victim} has ended, or was killed")
                self.assertEqual(support.survivors(), [])

    def test_a_link_that_is_cut(self):
        for victim in ("h2", "h6"):
            with self.subTest(victim):
                self.begin_tree(PROBE, "sleep")
                self.wait_for(lambda: processes("boot_probe", "sleep"), len(HOSTS))
                began = time.monotonic()
                tool("cut", victim)
                try:
                    code, err = self.end()
                    self.assertEqual(code, 1)
                    # Who is below a host that is cut off may be missed first.
                    self.assertTrue(re.search("the host h[256] is lost", err), err)
                    self.assertEqual(support.survivors(), [])
                    self.assertLess(time.monotonic() - began, over_hosts.LIMIT + 2)
                finally:
                    tool("join", victim)

    def test_the_launcher_is_killed(self):
        self.begin_tree(PROBE, "sleep")
        self.wait_for(lambda: processes("boot_probe", "sleep"), len(HOSTS))
        self.started.kill()
        self.started.communicate(timeout=20)
        self.assertEqual(support.survivors(), [])


if __name__ == "__main__":
    if sshd.missing():
        print(sshd.missing())
        sys.exit(77)
    over_hosts.main()
