# SPDX-License-Identifier: BSD-3-Clause
"""The profile of an MPI program: what is counted, by which lines, and who has waited for whom.

profile_test.py SINEW PROBE PROGRAM
"""

import html.parser
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import SINEW, environment, run, sinew_run  # noqa: E402

PROGRAM = sys.argv[3]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpi_profile.c")
PYTHON = """import ctypes
import sys
mpi = ctypes.CDLL("%s")
world = ctypes.c_void_p(0x101)
none = ctypes.c_void_p(0x100)
mpi.MPI_Init(None, None)
class Solver:
    def meet(self, comm):
        mpi.MPI_Barrier(comm)
solver = Solver()
for i in range(100):
    solver.meet(none if sys.argv[1:] else world)
mpi.MPI_Barrier(world)
mpi.MPI_Finalize()
"""
FORTRAN = """\
program p
  use mpi_f08
  implicit none
  integer :: rank, value
  value = 7
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (rank == 0) call MPI_Send(value, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD) ! 8
  if (rank == 1) call MPI_Recv(value, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Finalize()
end program
"""
VOID = {"meta", "link", "br", "img", "input", "hr"}


def line_of(mark):
    with open(SOURCE, encoding="utf-8") as text:
        found = [number for number, line in enumerate(text, 1) if f"/* {mark} */" in line]
    assert len(found) == 1, (mark, found)
    return found[0]


class Elements(html.parser.HTMLParser):
    """Elements close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class Profile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def written(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def profile(self, *words, ranks=3, env=None):
        """The file, and what was told."""
        done = sinew_run("-n", str(ranks), "--profile=" + self.path("p.json"), PROGRAM, *words,
                         env=env)
        self.assertEqual(0, done.code, done.err)
        return self.written("p.json"), done.err

    def call(self, data, rank, mark):
        line = line_of(mark)
        found = [c for c in data["ranks"][rank]["calls"] if c["line"] == line]
        self.assertEqual(1, len(found), (rank, mark, found))
        return found[0]

    def test_calls_bytes_and_lines_are_exact(self):
        data, told = self.profile()
        self.assertEqual([0, 1, 2], [r["rank"] for r in data["ranks"]])
        wanted = [(0, "send", "MPI_Send", "message", 50, 5000, 0, 1),
                  (1, "recv", "MPI_Recv", "message", 50, 0, 5000, 0),
                  (1, "isend", "MPI_Isend", "message", 1, 8, 0, 2),
                  (0, "irecv", "MPI_Irecv", "message", 1, 0, 0, 2),
                  (2, "waitall", "MPI_Waitall", "wait", 1, 0, 0, None),
                  (2, "allreduce", "MPI_Allreduce", "collective", 1, 8, 8, None),
                  (1, "bcast", "MPI_Bcast", "collective", 1, 16, 0, None),
                  (0, "bcast", "MPI_Bcast", "collective", 1, 0, 16, None),
                  (0, "gather", "MPI_Gather", "collective", 1, 16, 48, None),
                  (1, "gather", "MPI_Gather", "collective", 1, 16, 0, None),
                  (1, "in place", "MPI_Allgather", "collective", 1, 0, 48, None),
                  (2, "put", "MPI_Put", "one-sided", 1, 64, 0, 0)]
        for rank, mark, name, kind, count, sent, received, peer in wanted:
            with self.subTest(mark=mark, rank=rank):
                c = self.call(data, rank, mark)
                self.assertEqual((name, kind, count, sent, received, peer),
                                 tuple(c[k] for k in ("call", "kind", "count", "sent", "received",
                                                      "peer")))
                self.assertLessEqual(c["least_ns"] * count, c["total_ns"] + count)
                self.assertLessEqual(c["total_ns"], c["most_ns"] * count + count)
        self.assertEqual("exchange", self.call(data, 0, "send")["function"])
        self.assertEqual("mpi_profile.c", os.path.basename(self.call(data, 0, "send")["file"]))
        for rank in data["ranks"]:
            self.assertLessEqual(sum(t["mpi_ns"] for t in rank["threads"]), rank["run_ns"])
        place = f"exchange (mpi_profile.c:{line_of('send')})"
        self.assertRegex(told, rf"MPI_Send +{place.replace('(', '.').replace(')', '.')} +50 ")

    def test_who_has_sent_to_whom(self):
        data, _ = self.profile()
        peers = [{p["rank"]: p for p in r["peers"]} for r in data["ranks"]]
        # 50 of 100 bytes, one of 8 in the ring, and three of 4 of the persistent request.
        self.assertEqual((54, 5020), (peers[0][1]["sent_messages"], peers[0][1]["sent_bytes"]))
        self.assertEqual((54, 5020),
                         (peers[1][0]["arrived_messages"], peers[1][0]["arrived_bytes"]))
        self.assertEqual((1, 8), (peers[2][0]["sent_messages"], peers[2][0]["sent_bytes"]))
        self.assertEqual((1, 64), (peers[2][0]["puts"], peers[2][0]["put_bytes"]))
        # 4 bytes have three bits, 8 four, 100 seven.
        self.assertEqual([0, 0, 0, 3, 1, 0, 0, 50], data["ranks"][0]["sizes"]["message"])

    def test_wait_states(self):
        data, told = self.profile("late")
        waits = {}
        for w in data["waits"]:
            lines = (data["ranks"][w["rank"]]["calls"][w["call"]]["line"],
                     data["ranks"][w["cause_rank"]]["calls"][w["cause_call"]]["line"])
            waits[w["state"], w["rank"], w["cause_rank"], *lines] = w
        wanted = [("late sender", 0, 1, "early recv", "late send"),
                  ("late sender", 0, 2, "early wait", "later send"),
                  ("late receiver", 1, 2, "early ssend", "late recv"),
                  ("late receiver", 1, 0, "early send", "big recv"),
                  ("wait at collective", 0, 1, "unbalanced", "unbalanced"),
                  ("wait at collective", 2, 1, "unbalanced", "unbalanced"),
                  ("late broadcast", 0, 2, "late root", "late root"),
                  ("late broadcast", 1, 2, "late root", "late root")]
        for state, rank, cause, line, cause_line in wanted:
            with self.subTest(state=state, rank=rank, line=line):
                found = waits.get((state, rank, cause, line_of(line), line_of(cause_line)))
                self.assertIsNotNone(found, sorted(waits))
                self.assertEqual(1, found["count"])
                self.assertGreaterEqual(found["total_ns"], 200_000_000)
        self.assertEqual(1, data["one_in"])
        for who, mark in (("rank 0 in MPI_Recv", "early recv"),
                          ("rank 1 in MPI_Send", "late send")):
            self.assertIn(f"{who}, in waiting (mpi_profile.c:{line_of(mark)})", told)

    def test_of_a_long_run_a_sample_is_compared(self):
        data, _ = self.profile("many", ranks=2)
        self.assertEqual(40000, data["ranks"][0]["peers"][0]["sent_messages"])
        self.assertGreaterEqual(data["one_in"], 2)
        self.assertLess(os.path.getsize(self.path("p.json")), 20000)

    def test_places_beyond_the_limit_are_one_row(self):
        data, _ = self.profile(env={"SINEW_MPI_PROFILE_SITES": "3"})
        full, _ = self.profile()
        for rank, whole in zip(data["ranks"], full["ranks"]):
            self.assertEqual(4, len(rank["calls"]))
            self.assertEqual(1, sum(c["call"] == "others" for c in rank["calls"]))
            self.assertEqual(sum(c["count"] for c in whole["calls"]),
                             sum(c["count"] for c in rank["calls"]))

    def test_threads_are_told_apart(self):
        data, _ = self.profile("threads", ranks=1)
        self.assertEqual(10 * 50, self.call(data, 0, "iprobe")["count"])
        # Those that come one after the other follow in the place of one that has ended.
        self.assertIn(len(data["ranks"][0]["threads"]), (2, 3))

    def test_a_page(self):
        done = sinew_run("-n", "3", "--profile=" + self.path("p.html"), PROGRAM, "late")
        self.assertEqual(0, done.code, done.err)
        with open(self.path("p.html"), encoding="utf-8") as file:
            page = file.read()
        elements = Elements(page)
        self.assertEqual([], elements.open)
        self.assertEqual(3, elements.seen.count("table"))
        self.assertNotIn("script", elements.seen)
        self.assertNotRegex(page, r"(src|href)=|@import|url\(")
        self.assertIn("rank 2, computing", page)
        self.assertIn("rank 0, waiting for others", page)
        self.assertEqual(sorted(["p.html", "p.json"]), sorted(os.listdir(self.folder.name)))
        shown = run(SINEW, "profile", self.path("p.json"))
        self.assertEqual(0, shown.code, shown.err)
        self.assertIn("late sender: ", shown.out)
        again = run(SINEW, "profile", self.path("p.json"), "-o", self.path("q.html"))
        self.assertEqual(0, again.code, again.err)
        with open(self.path("q.html"), encoding="utf-8") as file:
            self.assertEqual(page, file.read())

    def test_by_the_setting_alone(self):
        done = run(PROGRAM, "threads", env={"SINEW_MPI_PROFILE": self.path("own.json")})
        self.assertEqual(0, done.code, done.err)
        self.assertEqual(1, len(self.written("own.json")["ranks"]))

    def test_nothing_is_written_unless_it_is_asked_for(self):
        done = sinew_run("-n", "2", PROGRAM, cwd=self.folder.name)
        self.assertEqual((0, []), (done.code, os.listdir(self.folder.name)), done.err)
        done = sinew_run("-n", "2", "--profile", PROGRAM, cwd=self.folder.name)
        self.assertEqual((0, ["profile.json"]), (done.code, os.listdir(self.folder.name)))

    def test_a_rank_that_ends_without_finalize(self):
        with open(self.path("p.json"), "w", encoding="utf-8") as old:
            old.write("of another run")
        done = sinew_run("-n", "2", "--profile=" + self.path("p.json"), PROGRAM, "crash")
        self.assertEqual(3, done.code)
        self.assertIn("there is no profile: rank 0 writes it in MPI_Finalize", done.err)
        self.assertEqual([], os.listdir(self.folder.name))

    def test_files_that_are_none(self):
        for text, why in (("{}", "it is not the profile of a run"), ("[", "malformed")):
            with open(self.path("bad.json"), "w", encoding="utf-8") as file:
                file.write(text)
            done = run(SINEW, "profile", self.path("bad.json"))
            self.assertEqual(1, done.code)
            self.assertIn(why, done.err)
        self.assertEqual(1, run(SINEW, "profile", self.path("none.json")).code)
        self.assertEqual(2, run(SINEW, "profile").code)

    def test_virtual_time(self):
        done = run(SINEW, "simulate", "-n", "3", "--profile=" + self.path("p.json"), PROGRAM)
        self.assertEqual(0, done.code, done.err)
        self.assertEqual(50, self.call(self.written("p.json"), 0, "send")["count"])

    def test_two_hosts(self):
        agent = self.path("agent")
        with open(agent, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nshift\nexec sh -c "$*"\n')
        os.chmod(agent, 0o755)
        done = sinew_run("--hosts", "one:2,two:1", "--rsh", agent,
                         "--profile=" + self.path("p.json"), PROGRAM, "late")
        self.assertEqual(0, done.code, done.err)
        data = self.written("p.json")
        self.assertGreater(data["clock_error_ns"], 0)
        found = [w for w in data["waits"] if (w["rank"], w["cause_rank"], w["state"]) ==
                 (0, 2, "late sender")]
        self.assertTrue(any(w["total_ns"] >= 200_000_000 for w in found), data["waits"])

    @unittest.skipUnless((3, 11) <= sys.version_info[:2] <= (3, 13), "another Python")
    def test_python(self):
        program = self.path("p.py")
        library = os.path.join(os.path.dirname(SINEW), "../lib/libmpi_abi.so.1")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PYTHON % library)
        for how in (["wrong"], []):
            done = sinew_run("-n", "2", "--profile=" + self.path("p.json"), sys.executable, program,
                             *how, cwd=self.folder.name)
            if how:
                self.assertRegex(done.err, r"MPI_Barrier: .*, called in Solver\.meet \(p\.py:9\)")
        self.assertEqual(0, done.code, done.err)
        calls = [c for c in self.written("p.json")["ranks"][0]["calls"]
                 if c["call"] == "MPI_Barrier"]
        self.assertEqual([(9, "p.py", 100), (13, "p.py", 1)],
                         sorted((c["line"], os.path.basename(c["file"]), c["count"])
                                for c in calls))
        self.assertRegex(done.err, r"MPI_Barrier +Solver\.meet \(p\.py:9\) +200 ")

    def test_fortran(self):
        compiler = os.path.join(os.path.dirname(SINEW), "mpifort.sinew")
        source, program = self.path("p.f90"), self.path("p")
        with open(source, "w", encoding="utf-8") as file:
            file.write(FORTRAN)
        made = subprocess.run([compiler, "-g", source, "-o", program], cwd=self.folder.name,
                              env=environment(), capture_output=True, check=False)
        if made.returncode != 0:
            self.skipTest("no Fortran compiler")
        done = sinew_run("-n", "2", "--profile=" + self.path("p.json"), program)
        self.assertEqual(0, done.code, done.err)
        calls = {c["call"]: c for c in self.written("p.json")["ranks"][0]["calls"]}
        self.assertEqual((8, "p.f90", 4), (calls["MPI_Send"]["line"],
                                           os.path.basename(calls["MPI_Send"]["file"]),
                                           calls["MPI_Send"]["sent"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
