# SPDX-License-Identifier: BSD-3-Clause
"""`sinew bench` of experiments in MPI and with coarrays: a short run has all rows, and an
answer that is wrong, or a word that is, ends a program.

mpi_experiments_test.py SINEW
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SINEW = sys.argv[1]
FOLDER = os.path.dirname(SINEW)
SOURCES = os.path.join(os.path.dirname(FOLDER), "share", "sinew", "bench")


class Experiments(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def rows(self, experiment, peers="none", **environment):
        """All results of one round with these peers."""
        path = os.path.join(self.folder.name, "out.json")
        done = subprocess.run([SINEW, "bench", experiment, "--quick", "--repeat", "1", "--peers",
                               peers, "--json", path], capture_output=True, text=True,
                              timeout=90, env={**os.environ, **environment}, check=False)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        with open(path, encoding="utf-8") as file:
            results = json.load(file)["results"]
        for subject in ("sinew", "floor"):
            for r in results:
                if r["subject"] == subject and r["metric"] != "overlap":
                    self.assertGreater(r["median"], 0, r)
        return results

    def of(self, results, subject, *names):
        return {tuple(r.get(n, r["params"].get(n)) for n in ("case", "metric") + names)
                for r in results if r["subject"] == subject}

    def assert_trips(self, results, ranks="ranks", of_all=True):
        """Every sample between two ranks has the trip of a line, if they have a processor each."""
        pairs = [r for r in results if r["subject"] == "sinew" and
                 (of_all or r["params"].get(ranks) == 2)]
        self.assertNotEqual([], pairs)
        for r in pairs:
            self.assertGreater(min(r["samples"]["line_ns"]), 0, r)
            self.assertGreater(len(r["samples"]["value"]), 2, r)

    def run_program(self, name, ranks, *words):
        program = os.path.join(self.folder.name, name)
        if not os.path.exists(program):
            subprocess.run([os.path.join(FOLDER, "mpicc.sinew"), "-O2", "-Wall", "-Wextra",
                            "-Werror", "-pthread", "-o", program,
                            os.path.join(SOURCES, name, name + ".c")], check=True, timeout=60)
        return subprocess.run([SINEW, "run", "-n", str(ranks), program, *words],
                              capture_output=True, text=True, timeout=60, check=False)

    def test_icoll(self):
        found = self.of(self.rows("icoll"), "sinew", "ranks", "bytes")
        for case in ("iallreduce", "ibcast", "ialltoall"):
            for ranks in (2, 4):
                for size in (8, 65536):
                    self.assertIn((case, "latency", ranks, size), found)
        self.assertIn(("ibarrier", "latency", 4, 0), found)
        if len(os.sched_getaffinity(0)) > 1:
            self.assertIn(("ibcast", "overlap", 2, 65536), found)
            self.assertIn(("ibarrier", "overlap", 2, 0), found)

    def test_coll(self):
        results = self.rows("allreduce")
        found = self.of(results, "sinew", "ranks", "bytes")
        for ranks in (2, 4):
            for size in (8, 262144):
                self.assertIn(("allreduce", "latency", ranks, size), found)
        self.assert_trips(results, of_all=False)

    def test_busy(self):
        results = self.rows("busy")
        self.assertEqual({(what, metric, owner) for what in ("get", "trigger", "lock", "task")
                          for metric in ("median", "p99") for owner in ("waits", "computes")},
                         self.of(results, "sinew", "owner"))
        for r in results:
            self.assertGreater(min(r["samples"]["line_ns"]), 0, r)

    def test_rma(self):
        results = self.rows("rma")
        passive = {(case, "latency", 2, size) for case, size in (
            ("put", 8), ("get", 8), ("fetch-and-op", 8), ("compare-and-swap", 8),
            ("accumulate", 8), ("accumulate", 65536), ("lock-unlock", 0))}
        found = self.of(results, "sinew", "ranks", "bytes")
        self.assertEqual(passive | {("fence", "latency", 2, 0), ("fence", "latency", 8, 0)}, found)
        self.assertEqual(passive, self.of(results, "floor", "ranks", "bytes"))

    def test_io(self):
        found = self.of(self.rows("io"), "sinew", "ranks")
        self.assertEqual({(case, "bandwidth", ranks) for ranks in (2, 8) for case in (
            "write-all", "read-all", "write-strided", "read-strided")}, found)
        self.assertEqual([], [f for f in os.listdir("/dev/shm") if f.startswith("sinew-bench-io")])

    def test_topology(self):
        found = self.of(self.rows("topology"), "sinew", "ranks", "way")
        for ranks in (2, 8):
            for way in ("neighbor-alltoallw", "isend-irecv"):
                self.assertIn(("halo", "latency", ranks, way), found)
            self.assertIn(("halo", "gain", ranks, None), found)
            self.assertIn(("cart-create", "latency", ranks, None), found)
            self.assertIn(("dist-graph-create", "latency", ranks, None), found)

    def test_partitioned(self):
        found = self.of(self.rows("partitioned"), "sinew", "threads", "way")
        for threads in (1, 4):
            self.assertIn(("message", "latency", threads, "partitioned"), found)
            self.assertIn(("message", "latency", threads, "isend-irecv"), found)
            self.assertIn(("message", "gain", threads, None), found)

    def test_overtaking(self):
        found = self.of(self.rows("overtaking"), "sinew", "threads", "promises")
        self.assertEqual({("window", "rate", 8, "none"), ("window", "rate", 8, "all"),
                          ("window", "gain", 8, None)}, found)

    def test_matching_with_wildcards(self):
        """All of it takes a minute: here what figure 7 in bandwidth asks for."""
        case = "queue=posted,depth=1024,collisions=0,hash=1021,wildcard={},cache=warm,bytes={}"
        wanted = ["bandwidth:" + case.format(wildcard, size) for size in (8, 4096)
                  for wildcard in ("recv-any-tag", "recv-any-source", "extra-any-tag",
                                   "extra-any-source", "none")]
        done = self.run_program("matching", 2, "budget_ms=5", *wanted)
        self.assertEqual(0, done.returncode, done.stderr)
        told = [line.split() for line in done.stdout.splitlines() if line.startswith("@ ")]
        self.assertEqual(wanted, [words[1] + ":" + words[4] for words in told])
        for words in told:
            self.assertGreater(float(words[5]), 0)

    def test_bandwidth_from_unlucky_places(self):
        found = self.of(self.rows("bandwidth"), "sinew", "bytes", "offset")
        self.assertEqual({("uni", "bandwidth", size, offset) for size, offset in (
            (4096, None), (4096, 16), (65536, None), (65536, 16), (1048576, None))}, found)

    def test_million(self):
        # What answers as a Java of today; it is given a source, and the words.
        java = os.path.join(self.folder.name, "bin", "java")
        os.mkdir(os.path.dirname(java))
        with open(java, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n"
                       "case $1 in --version) echo openjdk 21.0.1 2023-10-17; exit ;; esac\n"
                       "case $* in *java.java\\ threads=10000\\ *) ;; *) exit 1 ;; esac\n"
                       "echo @ crowd-spawn latency ns threads=10000 1234\n")
        os.chmod(java, 0o755)
        results = self.rows("million", "pthread,java", JAVA_HOME=self.folder.name)
        crowd = {("crowd-spawn", "latency", 10000), ("crowd-end", "latency", 10000),
                 ("crowd", "memory", 10000)}
        self.assertLessEqual(crowd, self.of(results, "sinew", "threads"))
        self.assertLessEqual(crowd, self.of(results, "pthread", "threads"))
        self.assertEqual({("crowd-spawn", "latency", 10000)}, self.of(results, "java", "threads"))
        found = self.of(results, "sinew", "threads", "kind", "method")
        for threads, kind in ((8, "fiber"), (65536, "fiber"), (8, "pthread"), (512, "pthread")):
            for method in ("paper", "steady"):
                self.assertIn(("one-way", "latency", threads, kind, method), found)

    def test_a_crowd_that_does_not_fit_is_not_tried(self):
        program = os.path.join(os.path.dirname(FOLDER), "libexec", "sinew", "bench-million")
        done = subprocess.run([program, "threads=1000000000", "stack=65536"], capture_output=True,
                              text=True, timeout=20, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, r"^@ crowd limit threads threads=1000000000,limit=memory \d+")

    def test_a_machine_s_limit_of_threads_is_told(self):
        program = os.path.join(self.folder.name, "pthreads")
        subprocess.run([os.path.join(FOLDER, "mpicc.sinew"), "-O2", "-Wall", "-Wextra", "-Werror",
                        "-pthread", "-o", program, os.path.join(SOURCES, "million", "pthreads.c")],
                       check=True, timeout=60)
        # What the node's shared memory leaves of it (that is 1.6 GiB of addresses, with room for
        # spawned ranks) is too little for that many stacks.
        done = subprocess.run([SINEW, "run", "-n", "2", "sh", "-c",
                               "ulimit -v 2100000; exec " + program + " threads=8,30000"],
                              capture_output=True, text=True, timeout=90, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("threads=8,bytes=64,kind=pthread,method=paper", done.stdout)
        self.assertRegex(done.stdout, r"@ one-way limit threads threads=30000,\S+ \d+\n")
        self.assertNotIn("threads=30000,bytes=64,kind=pthread,method", done.stdout)

    @unittest.skipUnless(shutil.which("gfortran"), "no gfortran")
    def test_coarray(self):
        results = self.rows("coarray")
        found = self.of(results, "sinew", "bytes", "variables", "way")
        for variables in (1, 2, 4, 8):
            for way in ("blocking", "nonblocking"):
                for size in (8, 4096, 32768, 1048576):
                    self.assertIn(("put-variables", "latency", size, variables, way), found)
        self.assertIn(("put-variables", "bandwidth", 8, 8, "blocking"), found)
        self.assert_trips(results)

    @unittest.skipUnless(shutil.which("gfortran"), "no gfortran")
    def test_himeno(self):
        results = self.rows("himeno")
        found = self.of(results, "sinew", "kind", "images")
        for images in (1, 2, 4, 8):
            for kind in ("coarray", "mpi"):
                self.assertIn(("XS", "rate", kind, images), found)
        self.assertIn(("S", "rate", "coarray", 2), found)
        self.assert_trips(results, "images", of_all=False)

    @unittest.skipUnless(shutil.which("gfortran"), "no gfortran")
    def test_fortran(self):
        results = self.rows("fortran")
        found = self.of(results, "sinew", "by")
        self.assertEqual({("one-way", "latency", "f08"), ("one-way", "latency", "c"),
                          ("row", "latency", "section"), ("row", "latency", "type"),
                          ("column", "latency", "section")} |
                         {(case, "latency", by) for case in ("test", "wait") for by in
                          ("f08", "c")}, found)
        self.assert_trips(results)

    def test_wrong_words_are_refused(self):
        for name, words, why in (
                ("io", ["mib=3"], "mib must be a power of two"),
                ("io", ["mib=1", "folder=/no/such/folder"], "io: "),
                ("partitioned", ["threads=99"], "threads: 1 to 16"),
                ("partitioned", ["sizes=17"], "the partitions must divide the bytes"),
                ("overtaking", ["threads=0"], "threads: 1 to 64")):
            done = self.run_program(name, 2, *words)
            self.assertNotEqual(0, done.returncode, name)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
