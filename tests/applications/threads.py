#!/usr/bin/env python3
"""Programs with threads as Debian has them, each natively and with its threads as fibers.

threads.py SINEW FOLDER: packages that are not installed are downloaded and unpacked in FOLDER, not
installed. Prints a line for each program; the last says how many passed and failed. Exit code 77 if
nothing could be had.
"""

import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

LIMIT_S = 120
PACKAGES = {
    "glib": ["libglib2.0-tests"],
    "memcached": ["memcached", "libevent-2.1-7"],
    "numpy": ["python3-numpy", "libopenblas0-pthread", "libgfortran5", "liblapack3", "libblas3"],
    "redis": ["redis-server", "redis-tools", "liblzf1", "libjemalloc2", "libhiredis0.14",
              "lua-cjson", "lua-bitop", "libatomic1", "liblua5.1-0"],
    "stress-ng": ["stress-ng"],
    "sysbench": ["sysbench", "libluajit-5.1-2", "libmariadb3", "libpq5", "libaio1"],
    "x264": ["x264"],
}
# Whose packages bring what they need and is not installed (25 MB for x264).
WITH_ALL_THEY_NEED = ("x264",)
GLIB_TESTS = ("thread thread-pool asyncqueue cond mutex rec-mutex rwlock private onceinit 642026 "
              "mainloop spawn-multithreaded").split()
STRESSORS = ("pthread", "futex", "pipe", "poll", "mq", "switch")


class Missing(Exception):
    """A program that cannot be had here."""


def fetch(root, packages):
    """Unpacks packages below `root`."""
    root.mkdir(parents=True, exist_ok=True)
    for package in packages:
        if list(root.glob(f"{package}_*.deb")):
            continue
        done = subprocess.run(["apt-get", "download", "-q", package], cwd=root,
                              capture_output=True, timeout=LIMIT_S, check=False)
        files = list(root.glob(f"{package}_*.deb"))
        if done.returncode != 0 or not files:
            raise Missing(f"{package} could not be fetched")
        subprocess.run(["dpkg", "-x", files[0], root], check=True, timeout=LIMIT_S)


def fetch_all(root, package):
    """Unpacks a package below `root`, and those that it needs and that are not installed."""
    archives = root / "archives"
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    if not list(archives.glob(f"{package}_*.deb")):
        words = ["apt-get", "install", "-qy", "--reinstall", "--no-install-recommends",
                 "--download-only", "-o", f"Dir::Cache::archives={archives}", package]
        done = subprocess.run(words, capture_output=True, timeout=LIMIT_S, check=False)
        if done.returncode != 0 or not list(archives.glob(f"{package}_*.deb")):
            raise Missing(f"{package} could not be fetched")
        for each in archives.glob("*.deb"):
            subprocess.run(["dpkg", "-x", each, root], check=True, timeout=LIMIT_S)


class Runner:
    """Starts programs, as threads or as fibers of so many workers."""

    def __init__(self, sinew, root, workers):
        self.workers = workers
        libraries = [root / f"usr/lib/{part}" for part in
                     ("x86_64-linux-gnu", "x86_64-linux-gnu/openblas-pthread")]
        libraries += [root / "lib/x86_64-linux-gnu"]
        self.environment = dict(os.environ, LD_LIBRARY_PATH=":".join(map(str, libraries)),
                                PYTHONPATH=str(root / "usr/lib/python3/dist-packages"),
                                OPENBLAS_NUM_THREADS="2")
        self.head = []
        if workers:
            self.head = [sinew, "run", "--timeout", str(LIMIT_S), "--threads-as-fibers"]
            self.environment["SINEW_FIBER_WORKERS"] = str(workers)

    def start(self, *words, **more):
        return subprocess.Popen([*self.head, *map(str, words)], env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)

    def run(self, *words):
        """Its output; raises if it fails."""
        program = self.start(*words)
        try:
            said, _ = program.communicate(timeout=LIMIT_S + 10)
        except subprocess.TimeoutExpired:
            program.kill()
            program.communicate()
            raise
        if program.returncode != 0:
            raise AssertionError(f"exit code {program.returncode}: {said[-300:]!r}")
        return said


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def connect(port):
    end = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=60)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def in_threads(count, function):
    wrong = []

    def guarded(number):
        try:
            function(number)
        except Exception as problem:  # pylint: disable=broad-except
            wrong.append(problem)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise AssertionError(repr(wrong[0]))


def with_server(runner, words, client):
    """Runs `client(port)` in eight threads against a server that is started by `words(port)`."""
    port = free_port()
    server = runner.start(*words(port))
    try:
        connect(port).close()
        in_threads(8, lambda number: client(port, number))
    finally:
        server.terminate()
        try:
            server.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.communicate()


def memcached(runner, root):
    def client(port, number):
        with connect(port) as link, link.makefile("rb") as answers:
            for i in range(200):
                value = f"{number}.{i}".encode()
                link.sendall(b"set k%d 0 0 %d\r\n%s\r\nget k%d\r\n" %
                             (number, len(value), value, number))
                assert answers.readline() == b"STORED\r\n"
                assert answers.readline().startswith(b"VALUE")
                assert answers.readline() == value + b"\r\n"
                assert answers.readline() == b"END\r\n"

    with_server(runner, lambda port: [root / "usr/bin/memcached", "-u", "root", "-t", 4, "-p", port,
                                      "-l", "127.0.0.1"], client)


def redis(runner, root):
    def client(port, number):
        with connect(port) as link, link.makefile("rb") as answers:
            for i in range(50):
                link.sendall(b"INCR k%d\r\n" % number)
                assert answers.readline() == b":%d\r\n" % (i + 1)

    with_server(runner, lambda port: [root / "usr/bin/redis-server", "--port", port, "--io-threads",
                                      3, "--io-threads-do-reads", "yes", "--save", "",
                                      "--appendonly", "no"], client)


def numpy(runner, _):
    said = runner.run("/usr/bin/python3", "-c",
                      "import numpy as n\na = n.random.rand(400, 400)\n"
                      "print(n.allclose(n.linalg.inv(a) @ a, n.eye(400), atol=1e-6))")
    assert said == b"True\n", said


def sysbench(runner, root):
    for what in (["threads", "--thread-yields=100"], ["mutex", "--mutex-locks=5000"],
                 ["cpu", "--cpu-max-prime=2000"]):
        said = runner.run(root / "usr/bin/sysbench", *what, "--threads=8", "--events=200", "run")
        assert b"execution time (avg/stddev)" in said, said


def glib(runner, root):
    for test in GLIB_TESTS:
        runner.run(root / "usr/libexec/installed-tests/glib" / test)


def stress_ng(runner, root):
    for stressor in STRESSORS:
        said = runner.run(root / "usr/bin/stress-ng", f"--{stressor}", 2, f"--{stressor}-ops", 100,
                          "--timeout", "60")
        assert b"successful run" in said, said


def x264(runner, root):
    """What it makes of a small film does not depend on how its threads run."""
    film, packed = root / "film.yuv", root / f"film{runner.workers}.264"
    if not film.exists():
        dice = random.Random(1)
        picture = [dice.randrange(256) for _ in range(320)]
        film.write_bytes(b"".join(bytes((picture[(x + 3 * n) % 320] + y) % 256
                                        for y in range(360) for x in range(320))
                                  for n in range(40)))
    runner.run(root / "usr/bin/x264", "--threads", 4, "--fps", 25, "--input-res", "320x240", "-o",
               packed, film)
    assert packed.stat().st_size > 1000
    assert packed.read_bytes() == (root / "film0.264").read_bytes(), "another film than natively"


def main(sinew, folder):
    root = Path(folder)
    passed = failed = 0
    for name, packages in PACKAGES.items():
        try:
            if shutil.which("apt-get") is None:
                raise Missing("no apt-get here")
            if name in WITH_ALL_THEY_NEED:
                fetch_all(root, name)
            else:
                fetch(root, packages)
        except (Missing, subprocess.SubprocessError) as problem:
            print(f"{name}: skipped: {problem}")
            continue
        took = []
        try:
            for workers in (0, 1, 2):
                before = time.monotonic()
                globals()[name.replace("-", "_")](Runner(sinew, root, workers), root)
                took.append(time.monotonic() - before)
        except (AssertionError, OSError, subprocess.SubprocessError) as problem:
            how = f"with {len(took)} workers" if took else "natively"
            print(f"{name}: {'failed' if took else 'skipped: it fails'} {how}: {problem}")
            failed += bool(took)
            continue
        passed += 1
        print(f"{name}: good; natively {took[0]:.1f} s, 1 worker {took[1]:.1f} s, "
              f"2 workers {took[2]:.1f} s", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 77 if passed + failed == 0 else int(failed != 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
