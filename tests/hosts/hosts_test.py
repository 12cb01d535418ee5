# SPDX-License-Identifier: BSD-3-Clause
"""tools/hosts: what one host has cannot be reached from another, and nothing stays behind.

hosts_test.py SINEW
"""
import importlib.machinery
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "hosts"
SET = f"test-{os.getpid()}"


def tool(*words, **how):
    how = {"capture_output": True, "text": True, "timeout": 60, "check": False} | how
    return subprocess.run([sys.executable, TOOL, "--set", SET, *words], **how)


def on(host, line):
    return tool("exec", host, "sh", "-c", line)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def processes_named(name):
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == name:
                found.append(int(entry.name))
        except OSError:
            pass
    return found


class Hosts(unittest.TestCase):
    def setUp(self):
        done = tool("up", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.addCleanup(tool, "down")

    def test_each_has_its_own_name_memory_and_processes(self):
        self.assertEqual(on("h2", "hostname").stdout, "h2\n")
        self.assertEqual(on("h1", "echo mine > /dev/shm/x && cat /dev/shm/x").stdout, "mine\n")
        self.assertNotEqual(on("h2", "cat /dev/shm/x").returncode, 0)
        self.assertNotEqual(on("h1", "ls /tmp/left 2>&1; touch /tmp/left; ls /tmp/left").stdout, "")
        self.assertNotEqual(on("h2", "ls /tmp/left").returncode, 0)
        self.assertEqual(on("h3", "cat /proc/1/comm").stdout, "host-h3\n")
        segment = on("h1", "ipcmk -M 100 > /dev/null && ipcs -m | grep -c 0x").stdout
        self.assertEqual(segment, "1\n")
        self.assertEqual(on("h2", "ipcs -m | grep -c 0x").stdout, "0\n")

    def test_codes_directories_and_rsh(self):
        self.assertEqual(on("h1", "exit 37").returncode, 37)
        self.assertEqual(on("h1", "pwd").stdout.strip(), os.getcwd())
        done = tool("rsh", "-x", "-o", "BatchMode=yes", "h3", "hostname;", "exit", "4")
        self.assertEqual((done.stdout, done.returncode), ("h3\n", 4))

    def test_hosts_reach_each_other_until_the_cable_is_cut(self):
        script = ("import socket; s = socket.create_server(('', 4000)); s.settimeout(20);"
                  "print('open', flush=True); s.accept(); print('met')")
        server = subprocess.Popen([sys.executable, TOOL, "--set", SET, "exec", "h2",
                                   sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        self.assertEqual(server.stdout.readline(), "open\n")
        dial = f"{sys.executable} -c \"import socket; socket.create_connection(('h2', 4000), 1)\""
        self.assertEqual(tool("cut", "h2").returncode, 0)
        self.assertNotEqual(on("h1", dial).returncode, 0)
        self.assertEqual(tool("join", "h2").returncode, 0)
        self.assertEqual(on("h1", dial).returncode, 0)
        self.assertEqual(server.communicate(timeout=20)[0], "met\n")

    def test_a_host_that_is_ended_takes_its_processes_along(self):
        command = [sys.executable, TOOL, "--set", SET, "exec", "h1", "sleep", "60"]
        sleeper = subprocess.Popen(command)
        self.assertEqual(tool("kill", "h1").returncode, 0)
        self.assertNotEqual(sleeper.wait(timeout=20), 0)
        self.assertEqual(tool("list").stdout, "h1 down\nh2 up\nh3 up\n")
        done = on("h1", "true")
        self.assertIn("the host 'h1' is down", done.stderr)
        self.assertEqual(on("h2", "true").returncode, 0)

    def test_killing_the_keeper_ends_all(self):
        keeper = [pid for pid in processes_named("sinew-hosts")
                  if f"--set\0{SET}\0" in Path(f"/proc/{pid}/cmdline").read_text()]
        self.assertEqual(len(keeper), 1)
        inside = [pid for n in (1, 2, 3) for pid in processes_named(f"host-h{n}")
                  if f"--set\0{SET}\0" in Path(f"/proc/{pid}/cmdline").read_text()]
        self.assertEqual(len(inside), 3)
        os.kill(keeper[0], signal.SIGKILL)
        end = time.monotonic() + 20
        while any(alive(pid) for pid in inside) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse([pid for pid in inside if alive(pid)])
        self.assertIn("no hosts are up", tool("list").stderr)
        self.assertEqual(tool("up", "1").returncode, 0)

    def test_mistakes_are_told(self):
        self.assertIn("are up already", tool("up", "2").stderr)
        self.assertIn("there is no host 'h9'", on("h9", "true").stderr)
        self.assertIn("needs a host and a command", tool("exec", "h1").stderr)
        self.assertIn("'2by2' is no torus", tool("up", "--links", "2by2").stderr)
        self.assertIn("that has 4", tool("up", "3", "--links", "2x2").stderr)
        self.assertIn("'fast' is no rate", tool("up", "2", "--links", "2", "--rate", "fast").stderr)
        self.assertIn("how many hosts", tool("up").stderr)


# Sends so many bytes; the receiver says how many bits per second came.
TRAFFIC = """import socket, sys, time
if len(sys.argv) == 1:
    server = socket.create_server(('', 4000))
    server.settimeout(20)
    print('open', flush=True)
    peer, count, begin = server.accept()[0], 0, None
    while piece := peer.recv(1 << 16):
        begin = begin or time.monotonic()
        count += len(piece)
    print(count * 8 / (time.monotonic() - begin))
else:
    with socket.create_connection((sys.argv[1], 4000)) as peer:
        peer.sendall(bytes(int(sys.argv[2])))
"""


class Links(unittest.TestCase):
    def counted(self, host, interface):
        """Bytes that a host has sent by an interface."""
        return int(on(host, f"cat /sys/class/net/{interface}/statistics/tx_bytes").stdout)

    def test_a_cable_is_limited_and_kernels_forward_by_dimensions(self):
        done = tool("up", "--links", "3x2", "--rate", "20M")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.addCleanup(tool, "down")
        self.assertEqual(len(tool("list").stdout.splitlines()), 6)
        # h1 is (0, 0) and h6 (2, 1): down by the first dimension, over h5, then by the second.
        before = self.counted("h1", "down0"), self.counted("h5", "up1"), self.counted("h1", "up1")
        server = subprocess.Popen([sys.executable, TOOL, "--set", SET, "exec", "h6", sys.executable,
                                   "-c", TRAFFIC], stdout=subprocess.PIPE, text=True)
        self.assertEqual(server.stdout.readline(), "open\n")
        sent = tool("exec", "h1", sys.executable, "-c", TRAFFIC, "10.78.0.6", "3000000")
        self.assertEqual(sent.returncode, 0, sent.stderr)
        rate = float(server.communicate(timeout=20)[0])
        self.assertLess(rate, 21e6)
        self.assertGreater(rate, 2e6)  # a loaded machine may be slower than the cable
        self.assertGreater(self.counted("h1", "down0") - before[0], 3000000)
        self.assertGreater(self.counted("h5", "up1") - before[1], 3000000)
        self.assertLess(self.counted("h1", "up1") - before[2], 100000)

    def test_routes_are_those_that_the_planner_takes_for_default(self):
        loader = importlib.machinery.SourceFileLoader("hosts", str(TOOL))
        hosts = importlib.util.module_from_spec(importlib.util.spec_from_loader("hosts", loader))
        loader.exec_module(hosts)
        for shape in ("4x2x2", "2x2x2x2", "4x4", "3x2x4", "5x3"):
            with tempfile.NamedTemporaryFile(suffix=".json") as plan:
                subprocess.run([sys.argv[1], "route", "plan", "-t", shape, "-p", "alltoall", "-b",
                                "1k", "-m", "default", "-o", plan.name], check=True, timeout=60,
                               stdout=subprocess.DEVNULL)
                jobs = json.loads(Path(plan.name).read_text())["jobs"]
            torus = hosts.Torus(shape)
            self.assertEqual(len(jobs), torus.count() * (torus.count() - 1))
            for job in jobs:
                at, walk = job["from"], []
                while at != job["to"]:
                    at = torus.neighbour(at, *torus.step(at, job["to"]))
                    walk.append(at)
                self.assertEqual([walk], [path[1:] for path in job["paths"]], f"{shape}: {job}")


if __name__ == "__main__":
    possible = tool("check")
    if possible.returncode != 0:
        print(possible.stdout.strip() or possible.stderr.strip())
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
