# SPDX-License-Identifier: BSD-3-Clause
"""Random kills: a rank, a daemon, the launcher, a host or a link goes at a random moment of a job's
life, sometimes two of them. Whatever it was, the job ends everywhere within seconds, the sentence
names what went, and every host has the processes, files and ports that it had before.

kills_test.py SINEW BOOT_PROBE LAUNCHED [--runs N] [--seed N]
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
from over_hosts import LIMIT, OverHosts, launcher, processes, support, tool  # noqa: E402

PROGRAM = sys.argv[3]
KINDS = ("rank", "daemon", "launcher", "host", "link")
HOSTS = ("h1", "h2")
# What a host has: processes beside its first one and this shell's, files, IPC objects, ports.
LOOK = ("ps -eo pid=,stat=,args= | awk '$1 != 1 && $2 !~ /Z/ && $3 !~ /^(ps|sh|awk)$/ {print}';"
        "for d in /dev/shm /tmp /run; do for f in $(ls -A $d); do echo file $d/$f; done; done;"
        "tail -qn +2 /proc/sysvipc/shm /proc/sysvipc/sem /proc/sysvipc/msg;"
        "awk '$4 == \"0A\" {print \"port\", $2}' /proc/net/tcp")


def left_on(host):
    done = tool("exec", host, "sh", "-c", LOOK)
    assert done.stderr == "", done.stderr
    return set(done.stdout.splitlines())


class Kills(OverHosts):
    count = len(HOSTS)
    runs, seed = 8, 1

    def setUp(self):
        super().setUp()
        self.learn_names()
        self.before = {host: left_on(host) for host in HOSTS}
        self.chance = random.Random(self.seed)

    def learn_names(self):
        self.names = {tool("exec", host, "readlink", "/proc/self/ns/uts").stdout.strip(): host
                      for host in HOSTS}

    def host_of(self, pid):
        return self.names[os.readlink(f"/proc/{pid}/ns/uts")]

    def strike(self, kind):
        """Ends one of a kind. Returns what must be told, or None if there was nothing to end."""
        try:
            if kind == "rank":
                pid = self.chance.choice(sorted(processes("launched")))
                number = re.search(rb"\0PMI_RANK=(\d+)\0",
                                   Path(f"/proc/{pid}/environ").read_bytes())[1].decode()
                told = f"rank {number} of 4 .*on {self.host_of(pid)}\\) was killed by SIGKILL"
                os.kill(pid, signal.SIGKILL)
                return told
            if kind == "daemon":
                pid = self.chance.choice(sorted(processes("sinew", "daemon")))
                told = f"host {self.host_of(pid)} "
                os.kill(pid, signal.SIGKILL)
                return told
        except (IndexError, TypeError, OSError):  # none yet, or it has just gone
            return None
        if kind == "launcher":
            self.started.kill()
            return ""
        host = self.chance.choice(HOSTS)
        self.struck.append((kind, host))
        tool("kill" if kind == "host" else "cut", host)
        return f"host {host} |on {host}\\)"

    def mend(self):
        """Hosts and links as at first."""
        kinds = [kind for kind, _ in self.struck]
        if "host" in kinds:
            tool("down")
            self.assertEqual(tool("up", str(len(HOSTS))).returncode, 0)
            self.learn_names()
        else:
            for _, host in self.struck:
                tool("join", host)

    def one_run(self, kind):
        chance = self.chance
        ends = chance.random() < 0.2  # a job that has an end of its own
        second = chance.choice(KINDS) if chance.random() < 0.2 else None
        moment, later = chance.uniform(0.2, 1.5), chance.uniform(0, 0.4)
        where = f"{kind} at {moment:.3f} s" + (f", {second} {later:.3f} s later" if second else "")
        where += ", of a job with an end" if ends else ""
        print(where, flush=True)
        self.struck = []
        self.started = support.start(*launcher(PROGRAM, "sum" if ends else "on"),
                                     stdout=subprocess.DEVNULL)
        time.sleep(moment)
        told = self.strike(kind)
        if second is not None:
            time.sleep(later)
            self.strike(second)
        if told is None and not ends:
            self.started.send_signal(signal.SIGTERM)
        began = time.monotonic()
        code, err = self.end()
        while support.marked_processes() and time.monotonic() - began < LIMIT + 1:
            time.sleep(0.02)
        stay = support.marked_processes()
        self.assertFalse(stay, (where, err))
        if not ends:
            self.assertNotEqual(code, 0, (where, err))
        if told and second is None and (code or not ends):
            self.assertRegex(err, told, where)
            self.assertEqual(code, 137 if kind == "rank" else 1, (where, err))
        for host in HOSTS:
            if ("host", host) not in self.struck:
                self.assertEqual(left_on(host) - self.before[host], set(), (where, host))
        self.mend()

    def test_at_random_moments(self):
        print("seed", self.seed, flush=True)
        for number in range(self.runs):
            self.one_run(KINDS[number] if number < len(KINDS) else self.chance.choice(KINDS))


if __name__ == "__main__":
    words = argparse.ArgumentParser()
    words.add_argument("--runs", type=int, default=Kills.runs)
    words.add_argument("--seed", type=int, default=int(os.environ.get("SINEW_TEST_SEED", "1")))
    asked, rest = words.parse_known_args(sys.argv[4:])
    Kills.runs, Kills.seed = asked.runs, asked.seed
    sys.argv[4:] = rest
    over_hosts.main(4)
