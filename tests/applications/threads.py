#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs with threads as Debian has them, each natively and with its threads as fibers.

threads.py SINEW FOLDER [--rounds N] [NAME...]: packages that are not installed are downloaded and
unpacked in FOLDER, not installed. Prints a line for each program (or for those named); the last
says how many passed and failed. Exit code 77 if nothing could be had. With --rounds each runs N
times natively and as fibers of two workers, by turns, with two threads where it lets one choose.
"""

import argparse
import os
import random
import resource
import shutil
import socket
import statistics
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
    "numpy-openmp": ["python3-numpy", "libopenblas0-openmp", "libgfortran5", "liblapack3",
                     "libblas3"],
    "pigz": ["pigz"],
    "redis": ["redis-server", "redis-tools", "liblzf1", "libjemalloc2", "libhiredis0.14",
              "lua-cjson", "lua-bitop", "libatomic1", "liblua5.1-0"],
    "stress-ng": ["stress-ng"],
    "sysbench": ["sysbench", "libluajit-5.1-2", "libmariadb3", "libpq5", "libaio1"],
    "tbb": ["libtbb12", "libtbb-dev", "libtbbmalloc2", "libtbbbind-2-5", "libhwloc15"],
    "x264": ["x264"],
    "zstd": ["zstd"],
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
    """Starts programs, as threads or as fibers of so many workers. `threads`: how many of them,
    where one may choose and the test wants no other number."""

    def __init__(self, sinew, root, workers, threads=4):
        self.workers = workers
        self.threads = threads
        libraries = [root / "usr/lib/x86_64-linux-gnu", root / "lib/x86_64-linux-gnu"]
        self.environment = dict(os.environ, LD_LIBRARY_PATH=":".join(map(str, libraries)),
                                PYTHONPATH=str(root / "usr/lib/python3/dist-packages"),
                                OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2")
        self.head = []
        if workers:
            self.head = [sinew, "run", "--timeout", str(LIMIT_S), "--threads-as-fibers"]
            self.environment["SINEW_FIBER_WORKERS"] = str(workers)

    def prefer_library(self, folder):
        """Libraries from here, before others of their names."""
        self.environment["LD_LIBRARY_PATH"] = f"{folder}:{self.environment['LD_LIBRARY_PATH']}"

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
    """Runs `client(port)` in eight threads against a server that is started by `words(port)`. The
    seconds that they took."""
    port = free_port()
    server = runner.start(*words(port))
    try:
        connect(port).close()
        before = time.monotonic()
        in_threads(8, lambda number: client(port, number))
        return time.monotonic() - before
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
            # Many at once, so that the server has more to do than its clients.
            for _ in range(20):
                link.sendall(b"get" + b" k%d" % number * 2000 + b"\r\n")
                got = answers.read(2000 * len(b"VALUE k%d 0 %d\r\n%s\r\n" %
                                              (number, len(value), value)))
                assert got.count(value) == 2000
                assert answers.readline() == b"END\r\n"

    return with_server(runner, lambda port: [root / "usr/bin/memcached", "-u", "root", "-t",
                                             runner.threads, "-p", port, "-l", "127.0.0.1"], client)


def redis(runner, root):
    def client(port, number):
        with connect(port) as link, link.makefile("rb") as answers:
            for i in range(50):
                link.sendall(b"INCR k%d\r\n" % number)
                assert answers.readline() == b":%d\r\n" % (i + 1)

    return with_server(runner, lambda port: [root / "usr/bin/redis-server", "--port", port,
                                             "--io-threads", 3, "--io-threads-do-reads", "yes",
                                             "--save", "", "--appendonly", "no"], client)


def numpy(runner, root, kind="pthread"):
    """The seconds of eight inversions."""
    runner.prefer_library(root / f"usr/lib/x86_64-linux-gnu/openblas-{kind}")
    said = runner.run("/usr/bin/python3", "-c",
                      "import numpy as n, time\na = n.random.rand(400, 400)\n"
                      "print(n.allclose(n.linalg.inv(a) @ a, n.eye(400), atol=1e-6))\n"
                      "a = n.random.rand(600, 600)\nbefore = time.monotonic()\n"
                      "for _ in range(8): n.linalg.inv(a)\n"
                      "print(time.monotonic() - before)")
    right, seconds = said.split()
    assert right == b"True", said
    return float(seconds)


def numpy_openmp(runner, root):
    return numpy(runner, root, "openmp")


def packer(runner, root, *words):
    """What it makes of a text does not depend on how its threads run."""
    text = root / "text"
    if not text.exists():
        dice = random.Random(1)
        words_of_text = ["".join(dice.choices("abcdefgh", k=dice.randint(1, 9)))
                         for _ in range(500)]
        text.write_text(" ".join(dice.choices(words_of_text, k=6_000_000)))
    before = time.monotonic()
    packed = runner.run(*words, "-c", text)
    seconds = time.monotonic() - before
    kept = root / f"text.{words[0]}.{runner.threads}"
    if not runner.workers:
        kept.write_bytes(packed)
    assert packed == kept.read_bytes(), "other bytes than natively"
    return seconds


def pigz(runner, root):
    return packer(runner, root, "pigz", "-n", "-p", runner.threads)


def zstd(runner, root):
    return packer(runner, root, "zstd", "-q", f"-T{runner.threads}")


def tbb(runner, root):
    """The seconds of the algorithms of TBB in tbb.cpp."""
    compiler, program = shutil.which("c++"), root / "tbb"
    if compiler is None:
        raise Missing("no compiler of C++")
    if not program.exists():
        subprocess.run([compiler, "-O2", "-std=c++17", "-I", root / "usr/include", "-o", program,
                        Path(__file__).with_name("tbb.cpp"), "-L",
                        root / "usr/lib/x86_64-linux-gnu", "-ltbb", "-pthread"],
                       check=True, timeout=LIMIT_S)
    right, seconds = runner.run(program, runner.threads).split()
    assert right == b"right"
    return float(seconds)


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


def processor_time():
    """Seconds of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(sinew, root, name, workers, threads=4):
    """What the program says itself, or how long it ran; and its processor time."""
    before, used = time.monotonic(), processor_time()
    seconds = globals()[name.replace("-", "_")](Runner(sinew, root, workers, threads), root)
    return seconds or time.monotonic() - before, processor_time() - used


def run_all_ways(sinew, root, name):
    took = []
    try:
        for workers in (0, 1, 2):
            took.append(timed(sinew, root, name, workers)[0])
    except (AssertionError, OSError, subprocess.SubprocessError) as problem:
        how = f"with {len(took)} workers" if took else "natively"
        print(f"{name}: {'failed' if took else 'skipped: it fails'} {how}: {problem}")
        return not took
    print(f"{name}: good; natively {took[0]:.2f} s, 1 worker {took[1]:.2f} s, "
          f"2 workers {took[2]:.2f} s", flush=True)
    return True


def compare(sinew, root, name, rounds):
    """Processor time is what to look at where others want the processors, too."""
    try:
        both = [[timed(sinew, root, name, workers, 2) for workers in (0, 2)]
                for _ in range(rounds)]
    except (AssertionError, OSError, subprocess.SubprocessError) as problem:
        print(f"{name}: failed: {problem}")
        return False
    said = []
    for what, index in (("time", 0), ("processor time", 1)):
        natively, fibers = zip(*((one[index], other[index]) for one, other in both))
        said.append(f"{what} {statistics.median(natively):.3f} s natively, "
                    f"{statistics.median(fibers):.3f} s as fibers, native over fibers "
                    f"{statistics.median(natively) / statistics.median(fibers):.2f} (medians), "
                    f"{min(natively) / min(fibers):.2f} (best)")
    print(f"{name}: {'; '.join(said)}", flush=True)
    return True


def parse(words):
    parser = argparse.ArgumentParser(description="programs with threads, natively and as fibers")
    parser.add_argument("sinew")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=0)
    return parser.parse_intermixed_args(words)


def main(*words):
    asked = parse(words)
    root = asked.folder
    passed = failed = 0
    for name, packages in PACKAGES.items():
        if asked.names and name not in asked.names:
            continue
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
        try:
            good = (compare(asked.sinew, root, name, asked.rounds) if asked.rounds
                    else run_all_ways(asked.sinew, root, name))
        except Missing as problem:
            print(f"{name}: skipped: {problem}")
            continue
        passed += good
        failed += not good
    print(f"{passed} passed, {failed} failed")
    return 77 if passed + failed == 0 else int(failed != 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
