"""Peers that `sinew bench` finds when it runs: Go, where its compiler is; a library that pkg-config
knows, from a pkg-config made here.

peers_test.py SINEW
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SINEW = sys.argv[1]


class Peers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def bench(self, peers, **environment):
        path = os.path.join(self.folder.name, "out.json")
        done = subprocess.run([SINEW, "bench", "threads", "--quick", "--repeat", "1", "--peers",
                               peers, "--json", path], capture_output=True, text=True, timeout=120,
                              env={**os.environ, **environment}, check=False)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        with open(path, encoding="utf-8") as file:
            return json.load(file), done.stdout + done.stderr

    @unittest.skipUnless(shutil.which("go"), "no go")
    def test_goroutines(self):
        all_of_it, _ = self.bench("go", HOME=os.environ.get("HOME", self.folder.name))
        found = {(r["case"], r["params"]["fibers"]) for r in all_of_it["results"]
                 if r["subject"] == "go"}
        self.assertEqual({("yield", 2), ("yield", 64), ("yield", 1024), ("spawn-join", 1),
                          ("signal", 64), ("round-trip", 2)}, found)
        self.assertRegex(all_of_it["host"]["peers"]["go"], r"^(go)?\d+\.\d+")

    def test_a_library_of_pkg_config(self):
        """It is found, and what its flags lead to is compiled: here a header that refuses."""
        with open(os.path.join(self.folder.name, "pkg-config"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\ncase $* in\n*--modversion*argobots) echo 9.9 ;;\n"
                       "*--cflags*argobots) echo -I" + self.folder.name + " ;;\n"
                       "*) exit 1 ;;\nesac\n")
        os.chmod(file.name, 0o755)
        with open(os.path.join(self.folder.name, "abt.h"), "w", encoding="ascii") as file:
            file.write("#error this is the header that was named\n")
        all_of_it, said = self.bench("argobots", PATH=self.folder.name + ":" + os.environ["PATH"])
        self.assertEqual("9.9", all_of_it["host"]["peers"]["argobots"])
        self.assertIn("argobots: failed: cannot compile argobots.cpp", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
