# SPDX-License-Identifier: BSD-3-Clause
"""`sinew bench echo`: threads as fibers beside the system's; servers that end or stay silent.

echo_test.py SINEW CC SOURCES
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

SINEW, CC, SOURCES = sys.argv[1:4]


def sockets():
    return set(glob.glob("/tmp/sinew-echo-*"))


class Echo(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def load(self, *words):
        program = os.path.join(self.folder.name, "load")
        if not os.path.exists(program):
            subprocess.run([CC, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program,
                            os.path.join(SOURCES, "echo.c")], check=True, timeout=60)
        return subprocess.run([program, *words], capture_output=True, text=True, timeout=60,
                              check=False)

    def server(self, text):
        path = os.path.join(self.folder.name, "server")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable}\nimport socket, sys, time\n"
                       "s = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[-1])\ns.listen(50)\n")
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def test_fibers_and_threads(self):
        path = os.path.join(self.folder.name, "out.json")
        done = subprocess.run([SINEW, "bench", "echo", "--quick", "--repeat", "1", "--peers",
                               "pthread", "--json", path], capture_output=True, text=True,
                              timeout=90, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["results"]
        for subject in ("sinew", "pthread"):
            for connections in (100, 1000):
                seen = {r["metric"]: r["median"] for r in rows if r["subject"] == subject and
                        r["params"]["connections"] == connections}
                self.assertEqual({"memory", "rate", "latency", "latency_p99"}, set(seen))
                self.assertGreater(min(seen.values()), 0)
                self.assertLessEqual(seen["latency"], seen["latency_p99"])

    def test_a_server_that_ends_is_an_error(self):
        before = sockets()
        done = self.load("connections=5", "--", "/bin/false")
        self.assertEqual(1, done.returncode)
        self.assertIn("the server ended before it listened", done.stderr)
        self.assertEqual(set(), sockets() - before)

    def test_who_is_not_answered_is_counted(self):
        server = self.server("c, _ = s.accept()\nc.sendall(c.recv(64))\ntime.sleep(60)\n")
        done = self.load("connections=5", "--", server)
        self.assertEqual("@ echo unserved 1 connections=5,limit=none 4\n", done.stdout)
        self.assertEqual(0, done.returncode, done.stderr)

    def test_wrong_words_are_refused(self):
        for words in (["connections=0", "--", "/bin/true"], ["bytes=5000", "--", "/bin/true"],
                      ["connections=5"]):
            done = self.load(*words)
            self.assertEqual(1, done.returncode)
            self.assertTrue(done.stderr.startswith("echo: "), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
