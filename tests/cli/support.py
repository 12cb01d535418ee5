# SPDX-License-Identifier: BSD-3-Clause
"""Running sinew and looking for what it left behind."""

import dataclasses
import os
import shutil
import socket
import subprocess
import sys
import time
import unittest

SINEW = sys.argv[1]
PROBE = sys.argv[2]
# Every process of a test carries this variable, so that survivors can be found.
MARK = "SINEW_TEST_MARK=%d-%d" % (os.getpid(), time.time_ns())
# How long what has been killed may take to go: it needs a processor for that, and those may be
# busy. What a test leaves behind by mistake stays for longer.
PATIENCE = 40


@dataclasses.dataclass
class Result:
    code: int
    out: str
    err: str
    seconds: float


def environment(extra=None):
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PMI_", "PMIX_", "OMPI_", "SINEW_", "SLURM_", "PALS_", "FLUX_"))
    }
    name, value = MARK.split("=")
    clean[name] = value
    clean.update(extra or {})
    return clean


def start(*words, env=None, **how):
    how.setdefault("stdout", subprocess.PIPE)
    how.setdefault("stderr", subprocess.PIPE)
    how.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(words, env=environment(env), **how)


def run(*words, env=None, feed=None, limit=100, **how):
    began = time.monotonic()
    if feed is not None:
        how["stdin"] = subprocess.PIPE
    process = start(*words, env=env, **how)
    try:
        out, err = process.communicate(feed, timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError("%s: no end after %s s\n%s%s" % (words, limit, out, err)) from None
    return Result(process.returncode, (out or b"").decode(errors="replace"),
                  (err or b"").decode(errors="replace"), time.monotonic() - began)


def sinew_run(*words, **how):
    return run(SINEW, "run", *words, **how)


def listening_sockets(pid):
    """[(address, port)] at which a process waits for connections; IPv6 as /proc writes it."""
    own = set()
    for each in os.listdir("/proc/%s/fd" % pid):
        try:
            own.add(os.readlink("/proc/%s/fd/%s" % (pid, each)))
        except OSError:  # closed meanwhile
            pass
    found = []
    for name in ("tcp", "tcp6"):
        with open("/proc/%s/net/%s" % (pid, name)) as rows:
            for fields in [row.split() for row in rows][1:]:
                if fields[3] == "0A" and "socket:[%s]" % fields[9] in own:
                    address, port = fields[1].split(":")
                    if name == "tcp":
                        address = socket.inet_ntoa(bytes.fromhex(address)[::-1])
                    found.append((address, int(port, 16)))
    return found


def marked_processes():
    """Pids of living processes, other than this one's, that carry the mark."""
    found = set()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as text:
                marked = MARK.encode() in text.read().split(b"\0")
            with open("/proc/%s/stat" % name) as text:
                state = text.read().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if marked and state not in "ZX":
            found.add(int(name))
    return found


def lasting(find):
    """What `find` sees all the time until PATIENCE is over; none as soon as nothing is left."""
    found = find()
    until = time.monotonic() + PATIENCE
    while found and time.monotonic() < until:
        time.sleep(0.01)
        found &= find()
    return sorted(found)


def survivors():
    """Marked processes that stay."""
    return lasting(marked_processes)


def shared_files():
    return set(name for name in os.listdir("/dev/shm") if "sinew" in name)


def files_left(before):
    """Shared memory that was not there before and stays: that of other tests comes and goes."""
    return lasting(lambda: shared_files() - before)


def find_mpiexec():
    """MPICH's mpiexec, from SINEW_PEERS, a .venv or the PATH; None if there is none."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folders = [os.path.join(os.environ.get("SINEW_PEERS", ""), "bin"),
               os.path.join(root, ".venv", "bin")]
    for folder in folders:
        path = os.path.join(folder, "mpiexec.hydra")
        if os.access(path, os.X_OK):
            return path
    return shutil.which("mpiexec.hydra")


class RunningJobs(unittest.TestCase):
    """Jobs that a test begins, and that end with it."""

    def setUp(self):
        self.jobs = []

    def tearDown(self):
        for each in self.jobs:
            each.kill()
            each.communicate()
        self.assertEqual(survivors(), [])

    def begin(self, *words, ranks, **how):
        """Returns once that many ranks have said that they are ready."""
        job = start(*words, **how)
        self.jobs.append(job)
        for _ in range(ranks):
            self.assertEqual(job.stdout.readline(), b"ready\n")
        return job
