# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of jobs over several hosts share: the hosts, the launcher on a login node."""
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
import support  # noqa: E402
from support import PROBE, SINEW  # noqa: E402

TOOL = ROOT / "tools" / "hosts"
SET = f"test-{os.getpid()}"
AGENT = f"{sys.executable} {TOOL} --set {SET} rsh"
# How long a job may take to end, beside the time that a busy machine needs.
LIMIT = 5 + 3
# These only end what hangs: beside other load a program takes up to twenty times as long as alone.
BOUND = ("--timeout", "180")
LONGEST = 200


def tool(*words, **how):
    how = {"capture_output": True, "text": True, "timeout": 60, "check": False} | how
    return subprocess.run([sys.executable, TOOL, "--set", SET, *words], **how)


def launcher(*words, agent=AGENT, hosts="h1:2,h2:2"):
    """`sinew run` on a login node, which the daemons can call back."""
    return (sys.executable, str(TOOL), "--set", SET, "login", SINEW, "run", "--hosts", hosts,
            "--rsh", agent, *words)


def run(*words, **how):
    keys = {key: how.pop(key) for key in ("agent", "hosts") if key in how}
    return support.run(*launcher(*words, **keys), **{"limit": LONGEST} | how)


def processes(name, *words):
    """Pids of living processes of this test with this name and these words in their command."""
    found = []
    for pid in support.marked_processes():
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            own_name = Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue
        if own_name == name and all(w.encode() in command for w in words):
            found.append(pid)
    return found


class OverHosts(unittest.TestCase):
    count = 4  # of hosts

    @classmethod
    def setUpClass(cls):
        done = tool("up", str(cls.count))
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        tool("down")

    def setUp(self):
        self.files = support.shared_files()
        self.started = None

    def tearDown(self):
        if self.started is not None and self.started.poll() is None:
            self.started.kill()
            self.started.communicate()
        self.assertEqual(support.survivors(), [])
        self.assertEqual(support.files_left(self.files), [])

    def begin(self, *words, **how):
        """A job that runs, and its launcher's pid (which the agents of this test are not)."""
        self.started = support.start(*launcher(*words, **how))
        return self.started

    def wait_for(self, what, count):
        until = time.monotonic() + 30
        while len(what()) != count:
            self.assertLess(time.monotonic(), until, "%d of %d" % (len(what()), count))
            time.sleep(0.01)
        return what()

    def end(self, limit=LIMIT):
        began = time.monotonic()
        _, err = self.started.communicate(timeout=60)
        self.assertLess(time.monotonic() - began, limit)
        return self.started.returncode, err.decode()


def main(words=3):
    """Runs the tests of the calling file; what stands behind its own words is unittest's."""
    possible = tool("check")
    if possible.returncode != 0:
        print(possible.stdout.strip() or possible.stderr.strip())
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[words:])
