# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that end in other ways than they should: ranks that never join or never finalize, programs
that cannot be executed, processes outside their group, stopped watchdogs, memory that runs out."""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import support  # noqa: E402
from support import PROBE, SINEW, run, sinew_run, survivors  # noqa: E402

TESTS = os.path.dirname(PROBE)
MPI_PROGRAM = os.path.join(TESTS, "long_messages")
OTHER_MPI = os.path.join(TESTS, "other_mpi_program")
OTHER_LIBRARY = os.path.join(TESTS, "other_mpi", "libmpi_cray.so.12")


def peer(name, program):
    """A launcher of `sinew bench`'s peers, or None."""
    path = os.path.join(os.path.dirname(os.path.dirname(SINEW)), "peers", name, "bin", program)
    return path if os.access(path, os.X_OK) else None


class NotStarted(unittest.TestCase):
    """A rank ends well without having joined, and another waits for it."""

    def check(self, pattern, *words):
        result = sinew_run(*words, limit=60)
        self.assertEqual(result.code, 1, result.err)
        self.assertRegex(result.err, pattern)
        self.assertEqual(survivors(), [])

    def test_no_mpi_program(self):
        self.check(r"rank [12] of 3 .*code 0 without having called MPI_Init, but rank 0",
                   "-n", "1", PROBE, "exchange", ":", "-n", "2", "true")
        self.check(r"rank 0 of 2 .*without having called MPI_Init, but rank 1",
                   "-n", "1", "sh", "-c", "sleep 0.5", ":", "-n", "1", PROBE, "sleep")

    def test_program_of_another_mpi(self):
        self.check(r"(?s)another MPI \(\S+/libmpi_cray.so.12\).*rank 1 of 2 .*without having "
                   "called",
                   "-n", "1", PROBE, "exchange", ":", "-n", "1", OTHER_MPI)

    def test_another_library_that_speaks_plain_pmi(self):
        plain = ("import os, socket\n"
                 "s = socket.socket(fileno=int(os.environ['PMI_FD']))\n"
                 "s.sendall(b'cmd=init pmi_version=1 pmi_subversion=1\\n'); s.recv(99)\n"
                 "s.sendall(b'cmd=barrier_in\\n'); s.recv(99)\n")
        self.check(r"rank [01] of 2 .*another MPI.*mpicc\.sinew",
                   "-n", "1", PROBE, "exchange", ":", "-n", "1", sys.executable, "-c", plain)

    def test_all_without_mpi_is_no_failure(self):
        self.assertEqual(sinew_run("-n", "3", "true").code, 0)

    @unittest.skipUnless(os.access(MPI_PROGRAM, os.X_OK), "no MPI library is built")
    def test_reports_name_it(self):
        result = sinew_run("--timeout", "3", "--hang-timeout", "0.2", "-n", "1", MPI_PROGRAM, ":",
                           "-n", "1", "sleep", "60")
        self.assertEqual(result.code, 124)
        self.assertRegex(result.err, r"rank 0 has waited .*have not called MPI_Init: rank 1\.\n")
        self.assertRegex(result.err, r"time is up .*not yet in MPI_Init, as others are: rank 1\.\n")

    @unittest.skipUnless(os.access(MPI_PROGRAM, os.X_OK), "no MPI library is built")
    def test_programs_of_two_mpis_are_refused(self):
        """Before anything starts: the other one may run for long, alone."""
        result = sinew_run("-n", "1", MPI_PROGRAM, ":", "-n", "1", OTHER_MPI)
        self.assertEqual((result.code, result.out), (2, ""))
        self.assertRegex(result.err, r"other_mpi_program is linked to another MPI "
                         r"\(libmpi_cray.so.12\), but \S+long_messages to Sinew")


class AnotherMPI(unittest.TestCase):
    """A job that ran on another MPI says so at its end, in one line, by the library's path."""

    def check(self, *words, library=OTHER_LIBRARY):
        result = sinew_run(*words, limit=60)
        self.assertEqual(result.code, 0, result.err)
        self.assertRegex(result.err, r"^sinew run: rank [01] of 2 \(.*\) has loaded another MPI, "
                         + library + r", and no rank has called Sinew's, .*\.\n$")

    def test_linked_through_another_library(self):
        self.check("-n", "2", os.path.join(TESTS, "other_mpi_indirect"))

    def test_opened_later(self):
        """As Python's packages do it, also below a shell."""
        opens = f"import ctypes, time; ctypes.CDLL('{OTHER_LIBRARY}'); time.sleep(4)"
        self.check("-n", "2", sys.executable, "-c", opens)
        self.check("-n", "2", "sh", "-c", f'{sys.executable} -c "{opens}"; :')

    def test_that_lies_beside_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            library = shutil.copy(OTHER_LIBRARY, folder)
            open(os.path.join(folder, "libsinew.so.0"), "w").close()
            self.check("-n", "2", sys.executable, "-c", f"import ctypes, time; "
                       f"ctypes.CDLL('{library}'); time.sleep(1)", library=library)

    def test_opened_later_and_told_by_plain_pmi(self):
        """At once: it may end before anybody looks."""
        self.check("-n", "2", sys.executable, "-c",
                   f"import ctypes, os, socket; ctypes.CDLL('{OTHER_LIBRARY}')\n"
                   "s = socket.socket(fileno=int(os.environ['PMI_FD']))\n"
                   "s.sendall(b'cmd=init pmi_version=1 pmi_subversion=1\\n'); s.recv(99)\n"
                   "s.sendall(b'cmd=finalize\\n'); s.recv(99)\n")

    def test_not_where_ranks_call_ours(self):
        result = sinew_run("-n", "2", "-x", f"LD_PRELOAD={OTHER_LIBRARY}", PROBE, "exchange")
        self.assertEqual((result.code, result.err), (0, ""))


class NotFinalized(unittest.TestCase):
    def launchers(self, ranks):
        yield "sinew", [SINEW, "run", "-n", ranks]
        mpich, openmpi = peer("mpich", "mpiexec"), peer("openmpi", "mpirun")
        if mpich:
            yield "mpich", [mpich, "-n", ranks]
        if openmpi:
            yield "openmpi", [openmpi, "--allow-run-as-root", "--oversubscribe", "-n", ranks]

    def test_all_end_well_as_with_mpich(self):
        programs = [[PROBE, "forget", "1"]]
        if os.access(MPI_PROGRAM, os.X_OK):
            programs += [[MPI_PROGRAM, "forget"], [MPI_PROGRAM, "threads"]]
        for name, launcher in self.launchers("2"):
            for program in programs:
                with self.subTest(launcher=name, program=program[1]):
                    result = run(*launcher, *program)
                    self.assertEqual(result.code, 0, result.err)
                    for rank in "01":
                        self.assertIn("sinew: rank %s of 2 ends without MPI_Finalize" % rank,
                                      result.err)

    def test_one_alone(self):
        result = run(PROBE, "forget")
        self.assertEqual(result.code, 0)
        self.assertIn("rank 0 of 1 ends without MPI_Finalize", result.err)

    def test_another_goes_on(self):
        """Rank 1 waits for ever: the job fails, and rank 0 is named."""
        for name, launcher in self.launchers("2"):
            with self.subTest(launcher=name):
                result = run(*launcher, PROBE, "forget", "1", "1")
                self.assertNotEqual(result.code, 0)
                self.assertIn("rank 0 of 2 ends without MPI_Finalize", result.err)
                self.assertRegex(result.err, r"rank 0 of 2 .*aborted the job with code 1")
                self.assertEqual(survivors(), [])

    def test_a_handler_of_the_program_finalizes(self):
        result = sinew_run("-n", "2", PROBE, "late")
        self.assertEqual((result.code, result.err), (0, ""))


class AfterFinalize(unittest.TestCase):
    """A rank fails when all have finalized: the others have time to write their results."""

    def start(self, *words):
        process = support.start(SINEW, "run", *words, "-n", "2", PROBE, "results", "1", "3",
                                stdin=subprocess.PIPE)
        self.assertRegex(process.stderr.readline().decode(),
                         r"rank 1 of 2 .*exited with code 3; the other rank in or after "
                         r"MPI_Finalize has \d+ s to end\.\n")
        return process

    def test_others_write_their_results(self):
        process = self.start()
        out, err = process.communicate(b"go\n", timeout=60)
        self.assertEqual((process.returncode, out, err), (3, b"result\n", b""))

    def test_an_interrupt_ends_them(self):
        process = self.start()
        process.send_signal(signal.SIGINT)
        process.wait(60)
        out, err = process.communicate()
        self.assertEqual((process.returncode, out), (3, b""))
        self.assertRegex(err.decode(), r"^sinew run: interrupted by SIGINT .*; the ranks have 2 s "
                         r"to end, a second signal ends them at once\.\n$")
        self.assertEqual(survivors(), [])

    def test_the_time_of_the_job_ends_them(self):
        began = time.monotonic()
        process = self.start("--timeout", "2")
        process.wait(60)
        out, err = process.communicate()
        self.assertLess(time.monotonic() - began, 9)  # of the 10 s that they would have
        self.assertEqual((process.returncode, out), (3, b""))
        self.assertRegex(err.decode(), r"^sinew run: the time is up \(--timeout\); still running "
                         r"on \S+: rank 0\.\n")
        self.assertEqual(survivors(), [])


class CannotBeExecuted(unittest.TestCase):
    def attempt(self, content):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program")
            with open(path, "wb") as file:
                file.write(content)
            os.chmod(path, 0o755)
            return sinew_run("-n", "2", path)

    def check(self, content, pattern):
        result = self.attempt(content)
        self.assertEqual(result.code, 126, result.err)
        self.assertRegex(result.err, pattern)
        self.assertEqual(result.err.count("\n"), 1, result.err)

    def test_elf(self):
        with open(PROBE, "rb") as file:
            good = file.read()
        other = bytearray(good)
        other[18:20] = struct.pack("<H", 8)  # MIPS
        self.check(bytes(other), r"cannot be executed: it is built for processor number 8")
        other[18:20] = struct.pack("<H", 243)
        self.check(bytes(other), r"built for RISC-V")
        self.check(good[:40], r"it is damaged")
        self.check(good[:4], r"it is damaged")
        broken = bytearray(good)
        broken[32:40] = struct.pack("<Q", 1 << 40)  # where the program headers begin
        self.check(bytes(broken), r"cannot be executed: ")
        broken = bytearray(good)
        broken[16:18] = struct.pack("<H", 1)
        self.check(bytes(broken), r"it is an ELF file but no program")

    def test_no_program_at_all(self):
        self.check(b"\x01\x02\x00\x03 data", r"neither a program of this system nor a script")

    def test_missing_interpreter(self):
        self.check(b"#!/no/such/shell\n", r"line names /no/such/shell, which does not exist")

    def test_text_is_read_by_a_shell(self):
        self.assertEqual(self.attempt(b"echo read\n").out, "read\nread\n")


class OutsideTheGroup(unittest.TestCase):
    JOIN = ("import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "os.setpgid(0, os.getpgid(os.getppid()))\nprint('here', flush=True)\ntime.sleep(60)\n")

    def test_it_is_ended_too(self):
        result = run("setsid", SINEW, "run", "-n", "2", "--timeout", "1", sys.executable, "-c",
                     self.JOIN, limit=50)
        self.assertEqual(result.code, 124, result.err)
        self.assertEqual(survivors(), [])

    def test_launcher_killed(self):
        process = support.start(SINEW, "run", "-n", "2", sys.executable, "-c", self.JOIN)
        for _ in range(2):
            process.stdout.readline()
        process.kill()
        process.wait()
        self.assertEqual(survivors(), [])
        process.communicate()


class Watchdog(unittest.TestCase):
    @staticmethod
    def children(pid):
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return [int(each) for each in file.read().split()]

    def watchdog_of(self, pid):
        until = time.monotonic() + support.PATIENCE
        while time.monotonic() < until:  # it may not have run yet, and so have no name
            for child in self.children(pid):
                with open("/proc/%d/comm" % child) as file:
                    if file.read().startswith("sinew-"):
                        return child
            time.sleep(0.01)
        self.fail("no watchdog")

    def end_of_job_with(self, number):
        process = support.start(SINEW, "run", "-n", "1", "sh", "-c", "echo here; read x; exit 0",
                                stdin=subprocess.PIPE)
        process.stdout.readline()
        watchdog = self.watchdog_of(process.pid)
        os.kill(watchdog, number)
        time.sleep(0.1)
        try:
            _, err = process.communicate(b"go\n", timeout=60)
        finally:
            if process.poll() is None:
                os.kill(watchdog, signal.SIGKILL)
                process.kill()
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertEqual(survivors(), [])

    def test_stopped(self):
        self.end_of_job_with(signal.SIGSTOP)

    def test_killed(self):
        self.end_of_job_with(signal.SIGKILL)


class Terminal(unittest.TestCase):
    def test_reason_of_an_abort(self):
        result = run(SINEW, "run", "-n", "1", PROBE, "control", "0", "3")
        self.assertEqual(result.code, 3)
        self.assertIn("red \\x1b[31mtext\\x07 and \\xc2\\x9b5m, \\xff, caf\u00e9", result.err)

    def test_bad_lines(self):
        script = ("import os, socket\n"
                  "s = socket.socket(fileno=int(os.environ['PMI_FD']))\n"
                  "s.sendall(b'\\x1b]0;title\\x07\\xff\\xc2\\x9b\\r\\n'); s.recv(9)\n")
        result = sinew_run("-n", "1", sys.executable, "-c", script)
        self.assertEqual(result.code, 1)
        self.assertIn('sent "\\x1b]0;title\\x07\\xff\\xc2\\x9b\\x0d"', result.err)
        self.assertIsNone(re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", result.err))

    def test_names(self):
        result = sinew_run("./no\x1b[1msuch")
        self.assertEqual(result.code, 127)
        self.assertIn("no\\x1b[1msuch", result.err)


class Memory(unittest.TestCase):
    """A group of processes with little memory, where this user may make one."""

    def setUp(self):
        with open("/proc/self/cgroup") as file:
            lines = [line.strip().split(":", 2) for line in file]
        self.folder = None
        for _, controllers, path in lines:
            if "memory" in controllers.split(","):
                self.make("/sys/fs/cgroup/memory" + path, "memory.limit_in_bytes")
            elif not controllers and self.folder is None:
                self.make("/sys/fs/cgroup" + path, "memory.max")
        if self.folder is None:
            self.skipTest("no group of processes can be made")

    def make(self, parent, limit):
        folder = os.path.join(parent, "sinew-test-%d" % os.getpid())
        try:
            os.mkdir(folder)
            self.addCleanup(lambda: os.rmdir(folder))
            with open(os.path.join(folder, limit), "w") as file:
                file.write(str(96 << 20))
            self.folder = folder
        except OSError:
            pass

    def test_is_named(self):
        hog = "b = []\nwhile True: b.append(bytearray(1 << 20))\n"
        result = run("sh", "-c", "echo $$ > %s/cgroup.procs && exec \"$@\"" % self.folder, "sh",
                     SINEW, "run", "-n", "1", sys.executable, "-c", hog)
        self.assertEqual(result.code, 137, result.err)
        self.assertRegex(result.err, r"SIGKILL .*most likely the kernel .* memory ran out")
        result = run("sh", "-c", "echo $$ > %s/cgroup.procs && exec \"$@\"" % self.folder, "sh",
                     SINEW, "run", "-n", "1", "sh", "-c",
                     sys.executable + " -c '%s'; exit $?" % hog)
        self.assertRegex(result.err, r"code 137; most likely the kernel .* memory ran out")

    def test_a_kill_by_hand_is_not(self):
        result = sinew_run("-n", "1", "sh", "-c", "kill -9 $$")
        self.assertEqual(result.code, 137)
        self.assertNotIn("memory", result.err)


class Limits(unittest.TestCase):
    """Of the system: what happened, which limit it was, and what to do."""

    def test_open_files(self):
        refused = 0
        for most in range(5, 20):
            result = run("sh", "-c", "ulimit -n %d; exec \"$@\"" % most, "sh", SINEW, "run", "-n",
                         "2", PROBE, "exchange")
            with self.subTest(most):
                if result.code != 0:
                    refused += 1
                    self.assertIn("(Too many open files: the limit is %d (ulimit -n)); raise"
                                  % most, result.err)
                    self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertGreater(refused, 2)
        self.assertEqual(survivors(), [])

    def test_processes(self):
        folder = "/sys/fs/cgroup/pids/sinew-test-%d" % os.getpid()
        try:
            os.mkdir(folder)
        except OSError as why:
            self.skipTest("no control group can be made: %s" % why)
        self.addCleanup(os.rmdir, folder)
        for most in (1, 2, 3):
            with open(folder + "/pids.max", "w") as limit:
                limit.write(str(most))
            result = run("sh", "-c", "echo $$ > %s/cgroup.procs && exec \"$@\"" % folder, "sh",
                         SINEW, "run", "-n", "2", PROBE, "exchange")
            self.assertNotEqual(result.code, 0)
            self.assertRegex(result.err, "Resource temporarily unavailable: the control group has "
                             r"all the %d processes and threads .*; raise pids.max of %s"
                             % (most, folder))
        self.assertEqual(survivors(), [])

    def test_processor_time(self):
        spin = "while :; do :; done"
        for script, ended in (("ulimit -t 1; %s" % spin, "SIGKILL"),
                              ("ulimit -St 1; %s" % spin, "SIGXCPU"),
                              ("ulimit -t 1; (%s); exit $?" % spin, "code 137")):
            result = sinew_run("-n", "1", "sh", "-c", script)
            with self.subTest(script):
                self.assertRegex(result.err, ended + ".*; it has used the processor time that it "
                                 r"may \(ulimit -t\): raise that limit\.\n$")


class Reported(unittest.TestCase):
    """--report: what a CI is told."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "result.xml")

    def test_the_rank_that_has_failed(self):
        done = sinew_run("-n", "3", "--report", self.file, "sh", "-c", "exit $((PMI_RANK / 2 * 5))")
        self.assertEqual(done.code, 5)
        suite = xml.etree.ElementTree.parse(self.file).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("4", "1"))
        cases = suite.findall("testcase")
        self.assertRegex(cases[3].get("name"), "^rank 2 on ")
        failed = [case.find("failure") is not None for case in cases]
        self.assertEqual(failed, [False, False, False, True])
        self.assertRegex(cases[3].find("failure").get("message"),
                         r"^rank 2 of 3 .* exited with code 5\.$")
        self.assertEqual(suite.findtext("system-err"), done.err)

    def test_a_job_whose_time_is_up(self):
        done = sinew_run("-n", "1", "--timeout", "0.3", "--report", self.file, "sleep", "100")
        self.assertEqual(done.code, 124)
        case = xml.etree.ElementTree.parse(self.file).getroot().find("testsuite/testcase")
        self.assertEqual(case.get("name"), "the job")
        self.assertIn("the time is up", case.find("failure").text)

    def test_a_job_that_ends_well_and_a_file_that_cannot_be(self):
        summary = self.file[:-len(".xml")]
        self.assertEqual(sinew_run("-n", "2", "--report", summary, "true").code, 0)
        with open(summary, encoding="utf-8") as text:
            self.assertIn("### `true` has ended well\n", text.read())
        done = sinew_run("-n", "2", "--report", self.file + "/x", "true")
        self.assertEqual(done.code, 1)
        self.assertRegex(done.err, "the report .* cannot be written")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
