# SPDX-License-Identifier: BSD-3-Clause
"""What `sinew run` does with every kind of end, as a table; and what it leaves behind: nothing."""

import os
import random
import re
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import support  # noqa: E402
from support import PROBE, SINEW, run, sinew_run, survivors  # noqa: E402

# name, words behind "sinew run", exit code, what stderr says (a pattern).
ENDS = [
    ("good", ["-n", "3", "true"], 0, r"^$"),
    ("crash", ["-n", "2", "sh", "-c", "kill -SEGV $$"], 139,
     r"rank [01] of 2 \(pid \d+ on \S+\) was killed by SIGSEGV"),
    ("crash beside a sleeper",
     ["-n", "3", "sh", "-c", "[ $PMI_RANK = 1 ] && kill -SEGV $$; sleep 60"], 139,
     r"rank 1 of 3 .*SIGSEGV.*ending the other 2 ranks"),
    ("killed", ["-n", "2", "sh", "-c", "[ $PMI_RANK = 1 ] && kill -9 $$; sleep 60"], 137,
     r"rank 1 of 2 .*SIGKILL"),
    ("exit code", ["-n", "3", "sh", "-c", "[ $PMI_RANK = 2 ] && exit 3; sleep 60"], 3,
     r"rank 2 of 3 .*exited with code 3"),
    ("deaf to SIGTERM",
     ["-n", "2", "sh", "-c", "[ $PMI_RANK = 1 ] && exit 4; trap '' TERM; sleep 60; sleep 60"], 4,
     r"rank 1 of 2 .*code 4"),
    ("timeout", ["-n", "2", "--timeout", "0.3", "sleep", "60"], 124,
     r"time is up .*rank 0, 1"),
    ("not found", ["-n", "2", "no-such-program-here"], 127, r"no-such-program-here: not found"),
    ("no such path", ["./no/such/file"], 127, r"No such file"),
    ("not executable", ["/etc/passwd"], 126, r"/etc/passwd: is not executable"),
    ("a directory", ["/tmp"], 126, r"/tmp: is not a file"),
    ("wrong option", ["--tiemout", "3", "true"], 2,
     r"^sinew run: unknown option --tiemout; did you mean --timeout\?\n$"),
    ("no number", ["-n", "many", "true"], 2, r"^sinew run: -n needs a whole number.*\n$"),
    ("no program", ["-n", "2"], 2, r"^sinew run: no program is given\.\n$"),
    ("no value", ["-n"], 2, r"^sinew run: -n needs a value: N\.\n$"),
    ("wdir missing", ["--wdir", "/no/such", "true"], 127,
     r"rank 0 cannot be started: its directory \(--wdir\) /no/such cannot be entered: No such"),
    ("wdir a file", ["--wdir", "/etc/passwd", "true"], 126,
     r"its directory \(--wdir\) /etc/passwd cannot be entered: Not a directory"),
    ("second program fails", ["-n", "1", "sleep", "60", ":", "-n", "1", "sh", "-c", "exit 5"], 5,
     r"rank 1 of 2 .*code 5"),
    ("mpi crash", ["-n", "2", PROBE, "crash", "1"], 139,
     r"(?s)rank 1 of 2 crashed on \S+, pid \d+: SIGSEGV.*address 0x8.*backtrace"
     r".*rank 1 of 2 .*SIGSEGV"),
    ("mpi abort", ["-n", "3", PROBE, "abort", "1", "7"], 7,
     r'rank 1 of 3 .*aborted the job with code 7: the reason is "bad input"; ending'),
    ("mpi abort 256", ["-n", "2", PROBE, "abort", "1", "256"], 1, r"code 256"),
    ("no finalize", ["-n", "2", PROBE, "leave", "1", "0"], 1,
     r"(?s)rank 1 of 2 ends without MPI_Finalize.*aborted the job with code 1: it ended without"),
    ("_exit without finalize", ["-n", "2", PROBE, "vanish", "1", "0"], 1,
     r"rank 1 of 2 .*code 0 but without MPI_Finalize"),
    ("exit after init", ["-n", "2", PROBE, "leave", "1", "6"], 6, r"rank 1 of 2 .*code 6"),
    ("left while others wait", ["-n", "2", PROBE, "desert", "1"], 1,
     r"rank 1 of 2 .*while others wait for it"),
    ("a second program in a rank",
     ["-n", "2", "sh", "-c", "%s start; %s start; sleep 60" % (PROBE, PROBE)], 1,
     r"rank [01] of 2 .*second MPI program.*ending the other rank"),
    ("address space", ["-n", "2", "sh", "-c", "ulimit -v 1000000; exec " + PROBE + " huge"], 9,
     r"shared memory of \d+ MiB cannot be mapped"),
    ("file limit", ["-n", "2", "sh", "-c", "ulimit -f 100; exec " + PROBE + " start"], 9,
     r"the limit on file size .*ulimit -f"),
    ("nobody survives", ["-n", "3", "--survive", "sh", "-c", "kill -9 $$"], 137,
     r"rank . of 3 .*SIGKILL.*, as all others have \(--survive\)"),
    ("one survives", ["-n", "2", "--survive", "sh", "-c", "[ $PMI_RANK = 0 ] || kill -9 $$"], 0,
     r"rank 1 of 2 .*SIGKILL.*; the others go on \(--survive\)"),
]

MPICHS = "../lib/sinew/mpich/libmpi.so.12"


# What the others would sleep for is a minute. How fast a job ends has its own test.
SOON = 40


def quickest(words, enough):
    """The least seconds that a run takes: as many runs as it takes to get below `enough`, within a
    minute, since on a busy machine most of them wait for a processor."""
    best = sinew_run(*words).seconds
    until = time.monotonic() + 60
    while best >= enough and time.monotonic() < until:
        best = min(best, sinew_run(*words).seconds)
    return best


class Ends(unittest.TestCase):
    """The table above; after each line no process and no file may be left."""

    def test_table(self):
        files = support.shared_files()
        for name, words, code, pattern in ENDS:
            with self.subTest(name):
                result = sinew_run(*words)
                self.assertEqual(result.code, code, result.err)
                self.assertRegex(result.err, pattern)
                self.assertLess(result.seconds, SOON)
                self.assertEqual(survivors(), [])
                self.assertEqual(support.files_left(files), [])

    def test_crash_ends_the_job_at_once(self):
        self.assertLess(quickest(["-n", "2", PROBE, "crash", "1"], 0.2), 0.2)

    def test_start_is_fast(self):
        self.assertLess(quickest(["-n", "3", "true"], 0.05), 0.05)


class Programs(unittest.TestCase):
    def test_plain_program(self):
        result = sinew_run("-n", "3", "sh", "-c", "echo x$PMI_RANK-$PMI_SIZE")
        self.assertEqual(sorted(result.out.split()), ["x0-3", "x1-3", "x2-3"])

    def test_images(self):
        env = {"SINEW_IMAGES": "3"}
        for words, ranks in (([], 3), (["-n", "2"], 2), (["--images", "2"], 2)):
            result = sinew_run(*words, PROBE, "exchange", env=env)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertEqual(result.out.count("by sinew: good"), ranks)
        result = sinew_run("true", env={"SINEW_IMAGES": "many"})
        self.assertEqual(result.code, 2)
        self.assertRegex(result.err, r"SINEW_IMAGES needs a whole number")

    def test_exchange(self):
        for ranks in (1, 2, 5, 16):
            result = sinew_run("-n", str(ranks), PROBE, "exchange")
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertEqual(result.out.count("by sinew: good"), ranks)

    def test_alone(self):
        result = run(PROBE, "exchange")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertIn("rank 0 of 1, local 0 of 1, by alone: good", result.out)

    def test_several_programs(self):
        result = sinew_run("-l", "-n", "1", "sh", "-c", "echo a", ":", "-n", "2", "-x", "V=b",
                           "sh", "-c", "echo $V")
        self.assertEqual(sorted(result.out.splitlines()), ["[0] a", "[1] b", "[2] b"])

    def test_several_programs_talk(self):
        result = sinew_run("-n", "1", PROBE, "exchange", ":", "-n", "2", PROBE, "exchange")
        self.assertEqual(result.out.count("of 3, local"), 3, result.err)

    def test_script_without_first_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script")
            with open(path, "w") as script:
                script.write("echo script $1\n")
            os.chmod(path, 0o755)
            self.assertEqual(sinew_run(path, "word").out, "script word\n")

    def test_directory_and_relative_program(self):
        with tempfile.TemporaryDirectory() as folder:
            result = sinew_run("--wdir", folder, "./" + os.path.basename(PROBE),
                               cwd=os.path.dirname(PROBE))
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual(sinew_run("--wdir", folder, "pwd").out.strip(),
                             os.path.realpath(folder))

    def test_a_relative_program_is_looked_for_in_the_directory_first(self):
        """As other launchers do, and where it is not there, here."""
        with tempfile.TemporaryDirectory() as here:
            for folder, name in ((here, "both"), (here, "only_here"), (here + "/in", "both"),
                                 (here + "/in", "only_in"), (here + "/two", "only_two")):
                os.makedirs(folder, exist_ok=True)
                path = os.path.join(folder, name)
                with open(path, "w") as script:
                    script.write("#!/bin/sh\necho %s of %s\n" % (name, os.path.basename(folder)))
                os.chmod(path, 0o755)
            last = os.path.basename(here)
            cases = [(["--wdir", "in", "./both"], "both of in"),
                     (["--wdir", here + "/in", "./only_in"], "only_in of in"),
                     (["--wdir", "in", "./only_here"], "only_here of " + last),
                     (["-wdir", "in", "./both"], "both of in"),
                     (["--wdir", "in", "./only_in", ":", "--wdir", "two", "./only_two"],
                      "only_in of in\nonly_two of two")]
            for words, out in cases:
                for command in ["mpiexec"] if words[0] == "-wdir" else ["run", "mpiexec"]:
                    with self.subTest(command, words=words):
                        result = run(SINEW, command, *words, cwd=here)
                        self.assertEqual((result.code, sorted(result.out.splitlines())),
                                         (0, out.splitlines()), result.err)
            result = sinew_run("--wdir", "in", "both", cwd=here, env={"PATH": ":/bin"})
            self.assertEqual(result.out, "both of in\n", result.err)
            result = sinew_run("--wdir", "in", "./none", cwd=here)
            self.assertEqual(result.code, 127)
            self.assertIn("./none: is neither in in nor here", result.err)

    def test_environment(self):
        result = sinew_run("-x", "A=1", "-x", "B", "--hang-timeout", "3", "sh", "-c",
                           "echo $A $B $SINEW_CORE_HANG_TIMEOUT", env={"B": "two"})
        self.assertEqual(result.out, "1 two 3\n")
        self.assertEqual(sinew_run("-x", "NOT_SET_AT_ALL", "true").code, 2)

    def test_other_launchers_variables_are_not_passed_on(self):
        result = sinew_run("-n", "2", PROBE, "exchange",
                           env={"OMPI_COMM_WORLD_RANK": "0", "PMIX_RANK": "0", "PMI_FD": "77",
                                "SINEW_BOOT_JOB": "outer"})
        self.assertEqual(result.code, 0, result.err)

    def test_programs_that_ask_the_environment_of_their_own_launcher(self):
        """Else those built for Open MPI that look there are jobs of one, as without a launcher."""
        names = ["OMPI_COMM_WORLD_" + each for each in ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE")]
        names += ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"]
        result = sinew_run("-n", "2", "sh", "-c", "echo $" + " $".join(names),
                           env={"OMPI_COMM_WORLD_RANK": "7"})
        self.assertEqual(sorted(result.out.splitlines()), ["0 2 " * 3 + "0 2", "1 2 " * 3 + "1 2"])

    def test_launcher_inside_a_rank(self):
        result = sinew_run("-n", "2", SINEW, "run", "-n", "2", PROBE, "exchange")
        self.assertEqual(result.out.count("of 2, local"), 4, result.err)

    def test_descriptors(self):
        """A rank inherits its socket and the memory, nothing else of ours."""
        script = ("import os\n"
                  "names = os.listdir('/proc/self/fd')\n"
                  "print(*(n for n in names if os.path.exists('/proc/self/fd/' + n)), '|',\n"
                  "      os.environ['PMI_FD'], os.environ['SINEW_BOOT_SHM_FD'])\n")
        result = sinew_run("-l", "-n", "3", sys.executable, "-c", script)
        self.assertEqual(len(result.out.splitlines()), 3, result.err)
        for line in result.out.splitlines():
            open_now, _, named = line[4:].partition("|")
            self.assertEqual(set(open_now.split()), {"0", "1", "2", *named.split()})

    def test_more_ranks_than_processors(self):
        ranks = 32
        result = sinew_run("-n", str(ranks), PROBE, "exchange")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(result.out.count("good"), ranks)

    def test_dry_run(self):
        result = sinew_run("--dry-run", "-n", "1", "-x", "A=b c", "--wdir", "/tmp", "echo", "it's")
        self.assertRegex(result.out,
                         r"^rank 0: cd /tmp && A='b c' \S*/echo 'it'\\''s'\n$")

    def test_binding(self):
        result = sinew_run("--bind-to", "core", "--report-bindings", "-n", "1", "sh", "-c",
                           "grep Cpus_allowed_list /proc/self/status")
        bound = re.search(r"bound to processors (\S+)\.", result.err).group(1)
        self.assertEqual(result.out.split()[1], bound)
        many = sinew_run("--bind-to", "core", "-n", str(4 * os.cpu_count()), "true")
        self.assertEqual(many.code, 0)
        self.assertIn("are not bound", many.err)
        self.assertEqual(sinew_run("--bind-to", "numa", "-n", "2", "true").code, 0)


    def test_ranks_that_wait_for_their_processors_are_let_go(self):
        """By default, where ranks and cores are equally many. Each rank runs until it is free."""
        usable = len(os.sched_getaffinity(0))
        wait = "import os\nwhile len(os.sched_getaffinity(0)) < %d: pass\n" % usable
        for ranks in range(2, usable + 1):
            told = sinew_run("--report-bindings", "-n", str(ranks), "true").err
            if "is bound" in told:
                break
        else:
            self.skipTest("no number of ranks is bound here")
        others = [support.start(sys.executable, "-c", "while True: pass")
                  for _ in range(2 * usable)]
        try:
            result = sinew_run("--report-bindings", "-n", str(ranks), "--timeout", "90",
                               sys.executable, "-c", wait)
        finally:
            for each in others:
                each.kill()
                each.communicate()
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("the ranks are not bound any more, since they waited for their processors.\n",
                      result.err)

    def test_another_mpi(self):
        program = os.path.join(os.path.dirname(PROBE), "other_mpi_program")
        result = sinew_run("-n", "2", program)
        self.assertEqual((result.code, result.out), (0, ""))
        library = os.path.join(os.path.dirname(PROBE), "other_mpi", "libmpi_cray.so.12")
        self.assertIn(f"linked to another MPI ({library})", result.err)
        self.assertEqual(result.err.count("\n"), 1)  # not once for each rank

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(SINEW), MPICHS)),
                         "the libraries of other MPIs' ABIs are not built")
    def test_a_library_whose_abi_we_have_found_by_the_programs_own_path(self):
        result = sinew_run("-n", "2", os.path.join(os.path.dirname(PROBE), "other_mpich_program"))
        self.assertEqual((result.code, result.out), (0, ""))
        library = os.path.join(os.path.dirname(PROBE), "other_mpich/libmpi.so.12")
        self.assertIn(f"linked to another MPI ({library}), which it finds by a path of its own",
                      result.err)
        self.assertEqual(result.err.count("\n"), 1)


class Streams(unittest.TestCase):
    def test_labels_never_tear_a_line(self):
        script = ("import os,sys\nfor i in range(300):\n"
                  "  os.write(1, b'x' * 1500); os.write(1, b'y' * 1500 + b'\\n')\n")
        result = sinew_run("-l", "-n", "4", sys.executable, "-c", script)
        lines = result.out.splitlines()
        self.assertEqual(len(lines), 1200)
        for line in lines:
            self.assertRegex(line, r"^\[[0-3]\] x{1500}y{1500}$")

    def test_label_ends_an_open_line(self):
        result = sinew_run("-l", "-n", "1", "sh", "-c", "printf open; printf 'also' >&2")
        self.assertEqual((result.out, result.err), ("[0] open\n", "[0] also\n"))

    def test_label_to_a_file(self):
        with tempfile.TemporaryFile() as sink:
            sinew_run("-l", "-n", "2", "echo", "word", stdout=sink)
            sink.seek(0)
            self.assertEqual(sorted(sink.read().splitlines()), [b"[0] word", b"[1] word"])

    def test_slow_and_vanishing_reader(self):
        script = SINEW + " run -l -n 2 yes | head -n 3 | (sleep 0.3; cat)"
        result = run("sh", "-c", script)
        self.assertEqual(len(result.out.splitlines()), 3)
        self.assertEqual(survivors(), [])

    def test_what_is_in_a_pipe_when_its_rank_ends_is_not_lost(self):
        """The reader sleeps until the launcher takes no more and the rank has gone."""
        script = "import os\nfor i in range(41300): os.write(1, b'x' * 99 + b'\\n')"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(script)
            file.flush()
            result = run("sh", "-c", "%s run -l -n 1 %s %s | (sleep 2; cat)"
                         % (SINEW, sys.executable, file.name))
        self.assertEqual(result.out.count("\n"), 41300)

    def test_output_files(self):
        with tempfile.TemporaryDirectory() as folder:
            def read(name):
                with open(os.path.join(folder, name)) as text:
                    return text.read()

            sinew_run("-n", "2", "-o", folder + "/out.%r", "sh", "-c", "echo $PMI_RANK; echo e >&2")
            self.assertEqual([read("out.0"), read("out.1")], ["0\ne\n", "1\ne\n"])
            sinew_run("-n", "2", "-o", folder + "/all", "sh", "-c", "echo $PMI_RANK")
            self.assertEqual(sorted(read("all").split()), ["0", "1"])
            sinew_run("-n", "1", "--output-dir", folder + "/new", "sh", "-c", "echo o; echo e >&2")
            self.assertEqual([read("new/rank.0.out"), read("new/rank.0.err")], ["o\n", "e\n"])
        self.assertEqual(sinew_run("-l", "-o", "x", "true").code, 2)

    def test_input(self):
        words = ["sh", "-c", "printf \"$PMI_RANK:%s \" $(wc -c)"]
        text = b"z" * 300_000
        cases = [([], "0:300000 1:0"), (["--stdin", "1"], "0:0 1:300000"),
                 (["--stdin", "none"], "0:0 1:0"), (["--stdin", "all"], "0:300000 1:300000")]
        for options, wanted in cases:
            with self.subTest(options):
                result = sinew_run("-n", "2", *options, *words, feed=text)
                self.assertEqual(" ".join(sorted(result.out.split())), wanted, result.err)
        with tempfile.TemporaryFile() as source:
            source.write(text)
            source.seek(0)
            result = sinew_run("-n", "2", "--stdin", "all", *words, stdin=source)
            self.assertEqual(" ".join(sorted(result.out.split())), "0:300000 1:300000")

    def test_input_nobody_reads(self):
        result = sinew_run("-n", "2", "--stdin", "all", "true", feed=b"z" * 300_000)
        self.assertEqual(result.code, 0)

    def test_closed_descriptors(self):
        result = run("sh", "-c", SINEW + " run -l -n 2 echo word 0<&- 2>&-")
        self.assertEqual(sorted(result.out.splitlines()), ["[0] word", "[1] word"])


class Signals(unittest.TestCase):
    def start(self, *words):
        process = support.start(SINEW, "run", "-n", "2", *words)
        # Two ranks have said that they are there.
        for _ in range(2):
            process.stdout.readline()
        return process

    def end(self, process, limit=100):
        out, err = process.communicate(timeout=limit)
        return process.returncode, out.decode(), err.decode()

    def test_interrupt(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start("sh", "-c", "echo here; sleep 60")
            process.send_signal(number)
            got, _, err = self.end(process)
            self.assertEqual(got, code, err)
            self.assertIn(number.name, err)
            self.assertEqual(survivors(), [])

    def test_second_interrupt_ends_at_once(self):
        """The first one gives 2 s. A busy machine may take those, or hand over both as one."""
        at_once = False
        for _ in range(20):
            process = self.start("sh", "-c", "trap '' INT; echo here; sleep 60; sleep 60")
            first = time.monotonic()
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
            if process.poll() is not None:
                self.assertGreater(time.monotonic() - first, 2)
            second = time.monotonic()
            process.send_signal(signal.SIGINT)
            self.assertEqual(self.end(process)[0], 130)
            at_once = time.monotonic() - second < 1
            self.assertEqual(survivors(), [])
            if at_once:
                break
        self.assertTrue(at_once)

    def test_deaf_ranks_are_killed(self):
        process = self.start("sh", "-c", "trap '' INT TERM; echo here; sleep 60; sleep 60")
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(process)[0], 143)
        self.assertLess(time.monotonic() - began, SOON)
        self.assertEqual(survivors(), [])

    def test_forwarded(self):
        process = self.start("sh", "-c", "trap 'echo got; exit 0' USR1; echo here; "
                             "while :; do sleep 0.05; done")
        process.send_signal(signal.SIGUSR1)
        code, out, err = self.end(process)
        self.assertEqual((code, out.count("got")), (0, 2), err)

    def test_launcher_killed(self):
        """Not even what a rank's shell has started may stay, nor a file."""
        files = support.shared_files()
        for words in (["sh", "-c", "echo here; sleep 60; echo never"],
                      ["sh", "-c", "echo here; exec " + PROBE + " sleep"],
                      ["sh", "-c", "echo here; (trap '' HUP TERM INT; sleep 60) & wait"]):
            process = self.start(*words)
            process.kill()
            process.wait()
            self.assertEqual(survivors(), [])
            self.assertEqual(support.files_left(files), [])
            process.communicate()

    def test_launcher_killed_at_any_moment(self):
        seed = 20240917
        random.seed(seed)
        for turn in range(12):
            label = ["-l"] if turn % 2 else []
            process = support.start(SINEW, "run", "-n", "6", *label, "sh", "-c", "sleep 60; :")
            time.sleep(random.random() * 0.03)
            process.kill()
            process.communicate()
            self.assertEqual(survivors(), [], "seed %d, turn %d" % (seed, turn))

    def test_rank_killed(self):
        files = support.shared_files()
        process = support.start(SINEW, "run", "-n", "3", "-v", PROBE, "sleep")
        pids = []
        while len(pids) < 3:
            started = re.search(rb"pid (\d+) .*started", process.stderr.readline())
            pids += [int(started.group(1))] if started else []
        os.kill(pids[1], signal.SIGKILL)
        code, _, err = self.end(process)
        self.assertEqual(code, 137, err)
        self.assertRegex(err, r"rank 1 of 3 \(pid %d .*SIGKILL" % pids[1])
        self.assertEqual(survivors(), [])
        self.assertEqual(support.files_left(files), [])

    def test_background_child_of_a_rank_ends_with_it(self):
        result = sinew_run("-n", "2", "sh", "-c", "sleep 60 & exit 0",
                           stdout=None, stderr=None)
        self.assertEqual(result.code, 0)
        self.assertEqual(survivors(), [])


class OtherLaunchers(unittest.TestCase):
    @staticmethod
    def hydra(call, said=""):
        """The result of `call`, which runs MPICH's mpiexec. On a busy machine that dies of a pipe
        of its own now and then, or ends before it has passed on what its ranks have `said`."""
        for _ in range(20):
            result = call()
            if result.code not in (-signal.SIGPIPE, 128 + signal.SIGPIPE) and said in result.err:
                break
        return result

    def test_mpich(self):
        mpiexec = support.find_mpiexec()
        if mpiexec is None:
            self.skipTest("no mpiexec.hydra (set SINEW_PEERS to a folder with bin/mpiexec.hydra)")
        files = support.shared_files()
        for ranks in (1, 2, 4):
            result = self.hydra(lambda n=str(ranks): run(mpiexec, "-n", n, PROBE, "exchange"))
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual(result.out.count("by pmi1: good"), ranks, result.out + result.err)
        reason = "aborted the job with code 7: the reason"
        result = self.hydra(lambda: run(mpiexec, "-n", "2", PROBE, "abort", "1", "7"), reason)
        self.assertEqual(result.code, 7)
        self.assertIn(reason, result.err)
        self.assertEqual(support.files_left(files), [])

    def openmpi(self, ranks, local=None, **extra):
        processes = []
        for rank in range(ranks):
            env = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(ranks),
                   "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
                   "OMPI_COMM_WORLD_LOCAL_SIZE": str(local or ranks),
                   "PMIX_NAMESPACE": "test-%d" % os.getpid(), "PMIX_RANK": str(rank)}
            env.update(extra)
            processes.append(support.start(PROBE, "exchange", env=env))
        return [(p.communicate(timeout=100), p.returncode) for p in processes]

    def test_openmpi_variables(self):
        files = support.shared_files()
        for ranks in (1, 2, 7):
            for (out, err), code in self.openmpi(ranks):
                self.assertEqual(code, 0, err)
                self.assertIn(b"by openmpi: good", out)
        self.assertEqual(support.files_left(files), [])
        (_, err), code = self.openmpi(2, OMPI_COMM_WORLD_LOCAL_SIZE="1",
                                      OMPI_COMM_WORLD_LOCAL_RANK="0")[0]
        self.assertEqual(code, 9)
        self.assertIn(b"PMIx: the launcher cannot be reached", err)

    def test_contradictions(self):
        cases = [
            ({"PMI_RANK": "0"}, "neither PMI_FD nor PMI_PORT"),
            ({"PMI_FD": "77", "PMI_RANK": "0", "PMI_SIZE": "2"}, "PMI_FD=77 is not open"),
            ({"PMI_FD": "1", "PMI_RANK": "2", "PMI_SIZE": "2"}, "contradict each other"),
            ({"PMI_FD": "x"}, "PMI_FD=x makes no sense"),
            ({"PMIX_RANK": "0"}, "PMIx: "),
            ({"OMPI_COMM_WORLD_RANK": "0", "PMI_FD": "1"}, "two launchers"),
            ({"OMPI_COMM_WORLD_RANK": "0", "PMIX_RANK": "0", "SINEW_BOOT_JOB": "outer"},
             "two launchers"),
            ({"SLURM_STEP_ID": "0", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4"},
             "--mpi=pmi2"),
            ({"PALS_RANKID": "1", "PALS_SIZE": "4"}, "PALS started 4 tasks without"),
            ({"FLUX_TASK_RANK": "1", "FLUX_JOB_SIZE": "4"}, "flux started 4 tasks without"),
        ]
        for env, wanted in cases:
            with self.subTest(env):
                result = run(PROBE, "exchange", env=env)
                self.assertEqual(result.code, 9, result.err)
                self.assertIn(wanted, result.err)
        alone = run(PROBE, "exchange", env={"FLUX_TASK_RANK": "0", "FLUX_JOB_SIZE": "1"})
        self.assertEqual((alone.code, alone.err), (0, ""))

    def test_launcher_in_launcher(self):
        mpiexec = support.find_mpiexec()
        if mpiexec is None:
            self.skipTest("no mpiexec.hydra")
        result = self.hydra(
            lambda: run(mpiexec, "-n", "2", SINEW, "run", "-n", "2", PROBE, "exchange"))
        self.assertEqual(result.out.count("by sinew: good"), 4, result.err)
        reason = "two launchers have started this process"
        result = self.hydra(lambda: sinew_run("-n", "1", mpiexec, "-n", "2", PROBE, "exchange"),
                            reason)
        self.assertNotEqual(result.code, 0)
        self.assertIn(reason, result.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
