# SPDX-License-Identifier: BSD-3-Clause
"""`sinew mpiexec`: the words that people know from MPICH's and Open MPI's launchers."""

import os
import socket
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import PROBE, SINEW, run  # noqa: E402

HOST = socket.gethostname()
RANKS = ["sh", "-c", "echo $PMI_SIZE"]


def mpiexec(*words, **how):
    return run(SINEW, "mpiexec", *words, **how)


class Granted(unittest.TestCase):
    def check(self, words, out, err="", **how):
        with self.subTest(words):
            result = mpiexec(*words, **how)
            self.assertEqual((result.code, sorted(result.out.split()), result.err),
                             (0, sorted(out.split()), err))

    def test_number_of_ranks(self):
        for words in (["-n", "2"], ["-np", "2"], ["--np", "2"], ["-c", "2"], ["--n", "2"],
                      ["-n2"], ["-np2"], ["-c2"], ["-ppn2"], ["--ranks=2"],
                      ["-N", "2"], ["--npernode", "2"],
                      ["-ppn", "4", "-n", "2"]):
            self.check([*words, *RANKS], "2 2")

    def test_this_machine(self):
        with tempfile.NamedTemporaryFile("w", suffix=".hosts") as file:
            file.write("# ours\n%s slots=4\nlocalhost:2\n\n" % HOST)
            file.flush()
            for words in (["-host", "localhost"], ["--host", HOST + ":4"], ["-H", "127.0.0.1"],
                          ["-hosts", "localhost," + HOST], ["--host=localhost"],
                          ["-f", file.name], ["--hostfile", file.name],
                          ["-machinefile", file.name]):
                self.check([*words, "-n", "2", *RANKS], "2 2")

    def test_other_machines(self):
        for words, hosts in ((["-hosts", "a,b", "-ppn", "2"], "aabb"),
                             (["-n", "3", "--host", "a:2,b:2"], "aab"),
                             (["-H", "a,b", "--map-by", "node", "-n", "3"], "aba"),
                             (["-launcher-exec", "rsh", "-host", "a:2"], "aa")):
            self.check([*words, "--dry-run", "true"], " ".join(sorted(
                word for n, host in enumerate(hosts)
                for word in ("rank", str(n), "on", host + ":", "true"))))

    def test_limit_from_the_environment(self):
        result = mpiexec("-n", "1", "sleep", "60", env={"MPIEXEC_TIMEOUT": "1"})
        self.assertEqual(result.code, 124)
        self.assertIn("the time is up", result.err)
        result = mpiexec("-timeout", "1", "-n", "1", "sleep", "60", env={"MPIEXEC_TIMEOUT": "50"})
        self.assertEqual(result.code, 124)

    def test_variables(self):
        show = ["sh", "-c", "echo $A-$B"]
        self.check(["-genv", "A", "1", "-n", "1", *show, ":", "-env", "B", "x=y", *show],
                   "1- 1-x=y")
        self.check(["-x", "A=1", "-x", "B", "-n", "2", *show], "1-two 1-two", env={"B": "two"})
        self.check(["-genvlist", "A,B", "-genvall", *show], "1-", env={"A": "1"})
        result = mpiexec("-x", "NOT_SET_AT_ALL", "echo", "ran")
        self.assertEqual((result.code, result.out), (0, "ran\n"))
        self.assertIn("-x NOT_SET_AT_ALL has no effect", result.err)

    def test_without_effect(self):
        for words in (["--oversubscribe"], ["--allow-run-as-root"], ["--map-by", "slot"],
                      ["-map-by", "core:OVERSUBSCRIBE"], ["-launcher", "fork"], ["-q"],
                      ["-initial-errhandler", "mpi_errors_are_fatal"], ["--bind-to", "none"],
                      ["-bind-to", "core:overload-allowed"], ["-arch", os.uname().machine],
                      ["-timeout", "60"], ["-s", "all"], ["--stdin", "none"]):
            self.check([*words, "-n", "1", *RANKS], "1")
        result = mpiexec("--mca", "btl", "self,vader", "-n", "1", *RANKS)
        self.assertEqual((result.code, result.out), (0, "1\n"))
        self.assertIn("--mca btl is a setting of Open MPI and has no effect", result.err)

    def test_labels_and_directories(self):
        for words in (["-l"], ["-prepend-rank"], ["--tag-output"], ["--output", "tag"]):
            self.assertEqual(mpiexec(*words, "-n", "1", "echo", "a").out, "[0] a\n")
        for words in (["-wdir", "/"], ["--wd", "/"], ["--wdir=/"]):
            self.assertEqual(mpiexec(*words, "-n", "1", "pwd").out, "/\n")

    def test_words_of_the_program_are_left_alone(self):
        self.check(["-n", "1", "echo", "-n", "-host", "elsewhere"], "-host elsewhere")
        self.check(["-n", "1", "--", "echo", "-np", "2"], "-np 2")

    def test_sinew_run_names_it(self):
        """For options of other launchers, glued words included, before it takes -o for --output."""
        for word in ("--oversubscribe", "-oversubscribe", "-wdir", "-envall", "--map-by=slot:PE=2",
                     "-ppn"):
            result = run(SINEW, "run", word, "-n", "1", "true")
            with self.subTest(word):
                self.assertEqual(result.code, 2, result.err)
                self.assertRegex(result.err, r"^sinew run: .*sinew mpiexec.*\n$"
                                 if word != "--map-by=slot:PE=2" else "--map-by knows slot")
        result = run(SINEW, "run", "--display-map", "true")
        self.assertIn("--display-map; it is of other MPIs' mpiexec: use --dry-run", result.err)
        self.assertEqual(run(SINEW, "run", "-np2", *RANKS).out, "2\n2\n")

    def test_sinew_names_the_launcher(self):
        for words, launcher in ((["-n", "2", "./a"], "run -n"), (["./a"], "run ./a"),
                                (["--ranks=2", "./a"], "run --ranks=2"),
                                (["-np2", "./a"], "mpiexec -np2"),
                                (["--oversubscribe", "./a"], "mpiexec --oversubscribe")):
            result = run(SINEW, *words)
            self.assertEqual(result.code, 2)
            self.assertRegex(result.err, "^sinew: %s is no command; ranks are started by "
                             "`sinew %s ...`" % (words[0], launcher))
        self.assertIn("unknown command --frobnicate", run(SINEW, "--frobnicate").err)

    def test_own_options(self):
        result = mpiexec("-n", "2", "--dry-run", "--hang-timeout", "3", "true")
        self.assertEqual(result.out.count("SINEW_CORE_HANG_TIMEOUT=3"), 2, result.err)

    def test_a_job(self):
        result = mpiexec("-np", "3", PROBE, "exchange")
        self.assertEqual((result.code, result.out.count("of 3, local")), (0, 3))

    def test_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("mpiexec", "mpirun"):
                os.symlink(SINEW, os.path.join(folder, name))
                result = run(os.path.join(folder, name), "-np", "2", *RANKS)
                self.assertEqual((result.code, result.out, result.err), (0, "2\n2\n", ""))

    def test_who_it_is(self):
        for word in ("--version", "-V", "-version"):
            self.assertRegex(mpiexec(word).out, r"^mpiexec \(Sinew\) \d+\.\d+")
        for word in ("--help", "-h", "-help"):
            result = mpiexec(word)
            self.assertEqual(result.code, 0)
            self.assertIn("-genv NAME VALUE", result.out)
        self.assertIn("mpiexec", run(SINEW, "help").out)


class Refused(unittest.TestCase):
    CASES = [
        (["--hosts", "localhost,-node7:2"], r"\"-node7\" is no name of a host"),
        (["-f", "/no/such/file"], r"/no/such/file cannot be read"),
        (["-outfile-pattern", "out"], r"-outfile-pattern cannot be granted: use -o FILE"),
        (["--output-filename", "out"], r"--output-dir DIR"),
        (["--output", "dir=x"], r"--output-dir DIR"),
        (["-configfile", "x"], r"separated by ':'"),
        (["-genvnone"], r"env -i"),
        (["--map-by", "ppr:2:node"], r"use -n with the number of ranks"),
        (["--map-by", "slot:PE=4"], r"--bind-to none"),
        (["--bind-to", "socket"], r"--bind-to knows auto, core, numa and none"),
        (["-launcher", "lsf"], r"ssh, by srun inside a Slurm job, or by the command of --rsh"),
        (["-gdb"], r"gdb --args PROGRAM"),
        (["--display-map"], r"--dry-run"),
        (["-initial-errhandler", "mpi_errors_return"], r"MPI_Comm_set_errhandler"),
        (["-soft", "1:4"], r"use -n with one number"),
        (["-arch", "vax"], r"processors like this machine's"),
        (["--verbos"], r"unknown option --verbos; did you mean --verbose"),
        (["-n"], r"-n needs a value"),
        (["-genv", "A"], r"-genv needs a value"),
        (["-n", "x"], r"-n needs a whole number"),
    ]

    def test_each_names_what_to_use(self):
        for words, pattern in self.CASES:
            with self.subTest(words):
                behind = [] if len(words) == 1 and words[0] == "-n" or words == ["-genv", "A"] \
                    else ["true"]
                result = mpiexec(*words, *behind)
                self.assertEqual(result.code, 2, result.err)
                self.assertRegex(result.err, pattern)
                self.assertEqual(result.err.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
