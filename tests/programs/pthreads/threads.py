# SPDX-License-Identifier: BSD-3-Clause
"""Threads of an interpreter: its lock, queues, pools, events, pipes, sockets, children."""

import concurrent.futures
import http.server
import os
import queue
import subprocess
import sys
import threading
import time
import urllib.request


def queues():
    numbers, seen = queue.Queue(5), []

    def produce():
        for i in range(200):
            numbers.put(i)
        numbers.put(None)

    def consume():
        while (number := numbers.get()) is not None:
            seen.append(number)

    run_all([produce, consume])
    assert seen == list(range(200))


def pools():
    def late(number):
        time.sleep(0.001)
        return number

    def child(number):
        return int(subprocess.run(["echo", str(number)], capture_output=True, check=True).stdout)

    for work, width in ((late, 20), (child, 4)):
        with concurrent.futures.ThreadPoolExecutor(width) as pool:
            assert sum(pool.map(work, range(20))) == 190
    assert not threading.Event().wait(0.01)


def pipes():
    ends, seen = os.pipe(), []
    run_all([lambda: seen.append(os.read(ends[0], 10)), lambda: os.write(ends[1], b"x" * 10)])
    assert seen == [b"x" * 10]


def storage():
    own = threading.local()
    own.value = 1

    def other():
        assert not hasattr(own, "value")
        own.value = 2

    run_all([other] * 50)
    assert own.value == 1


def sockets():
    """More clients than the server's queue takes, all of one process."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    answers = []
    page = "http" + f"://127.0.0.1:{server.server_port}/"
    open_page = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
    run_all([lambda: answers.append(open_page(page).read())] * 20)
    assert answers == [b"hello"] * 20
    server.shutdown()


def deep():
    """As deep as the system's stacks let it."""

    def down(levels):
        return 0 if levels == 0 else 1 + next(map(down, [levels - 1]))  # through C

    seen = []
    sys.setrecursionlimit(10000)
    run_all([lambda: seen.append(down(2000))] * 3)
    assert seen == [2000] * 3


def run_all(bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


for part in (queues, pools, pipes, storage, sockets, deep):
    part()
expected = os.environ.get("SINEW_TEST_KERNEL_THREADS")
if expected is not None:
    # Workers, their monitor, and a few that took over from workers that were stuck.
    there = len(os.listdir("/proc/self/task"))
    if not int(expected) <= there <= int(expected) + 5:
        sys.exit(f"{there} kernel threads for {expected} workers")
print("all parts hold")
