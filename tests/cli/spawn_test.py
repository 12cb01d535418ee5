"""Ranks that are spawned: how they end, what is said of them, and where none can be."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import PROBE, SINEW, find_mpiexec, run, sinew_run, survivors  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(PROBE), "spawn_probe")
HAS_UCX = os.path.exists(os.path.join(os.path.dirname(SINEW), "..", "lib", "libsinew_ucx.so"))


class Spawned(unittest.TestCase):
    def spawn(self, *words, ranks=1, options=(), **how):
        return sinew_run("-n", str(ranks), "--timeout", "30", *options, PROGRAM, *words, **how)

    def test_one_that_is_killed_ends_the_job(self):
        result = self.spawn("killed")
        self.assertEqual(result.code, 137, result.err)
        self.assertRegex(result.err, r"rank 2 \(pid \d+ on .*\), spawned by rank 0 was killed by "
                                     r"SIGKILL .*; ending the other 2 ranks")
        self.assertEqual(survivors(), [])

    def test_one_that_crashes_says_so(self):
        result = self.spawn("crash")
        self.assertEqual(result.code, 134, result.err)
        self.assertRegex(result.err, r"rank 2 of 3 crashed .*SIGABRT")
        self.assertEqual(survivors(), [])

    def test_its_exit_code_is_the_jobs(self):
        result = self.spawn("exit")
        self.assertEqual(result.code, 7, result.err)
        self.assertRegex(result.err, r"rank 2 .*exited with code 7")

    def test_one_that_ends_without_finalize(self):
        result = self.spawn("return")
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("rank 2 of 3 ends without MPI_Finalize", result.err)

    def test_others_survive_it(self):
        result = self.spawn("survive", options=["--survive"])
        self.assertEqual(result.code, 0, result.err)
        self.assertRegex(result.err, r"rank 2 .*was killed by SIGKILL .*the others go on")
        self.assertIn("there was a fault, and ranks were spawned again", result.out)
        self.assertEqual(survivors(), [])

    def test_a_program_without_mpi(self):
        result = self.spawn("program", "true")
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("without having called MPI_Init, which MPI_Comm_spawn waits for", result.err)
        self.assertEqual(survivors(), [])

    def test_a_program_that_cannot_be_executed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "broken")
            with open(path, "w") as script:
                script.write("#!/no/such/interpreter\n")
            os.chmod(path, 0o755)
            result = self.spawn("program", path)
        self.assertEqual(result.code, 53, result.err)
        self.assertIn("its first line names /no/such/interpreter", result.err)
        self.assertEqual(survivors(), [])

    def test_labels_and_output_files(self):
        result = self.spawn("hello", options=["-l"])
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(sorted(result.out.splitlines()),
                         ["[0] spawner", "[1] spawned 0 of 2", "[2] spawned 1 of 2"])
        with tempfile.TemporaryDirectory() as folder:
            result = self.spawn("hello", options=["--output-dir", folder])
            self.assertEqual(result.code, 0, result.err)
            with open(os.path.join(folder, "rank.2.out")) as text:
                self.assertEqual(text.read(), "spawned 1 of 2\n")

    def test_room(self):
        result = self.spawn("hello", env={"SINEW_BOOT_SPAWN": "1"})
        self.assertEqual(result.code, 53, result.err)
        self.assertIn("Start the job with SINEW_BOOT_SPAWN=2 or more", result.err)
        result = self.spawn("hello", env={"SINEW_BOOT_SPAWN": "0"})
        self.assertEqual(result.code, 53, result.err)
        self.assertIn("SINEW_BOOT_SPAWN is 0", result.err)
        result = self.spawn("hello", env={"SINEW_BOOT_SPAWN": "many"})
        self.assertNotEqual(result.code, 0)
        self.assertIn("SINEW_BOOT_SPAWN", result.err)

    def test_places_of_ranks_that_stay_connected_are_kept(self):
        result = self.spawn("connected", env={"SINEW_BOOT_SPAWN": "2"})
        self.assertEqual(result.code, 53, result.err)
        self.assertRegex(result.err, r"ended without MPI_Comm_disconnect hold [12]\)")


@unittest.skipUnless(HAS_UCX, "jobs connect over UCX, which this build has not")
class SpawnedAsAJob(unittest.TestCase):
    """Without a launcher that starts further ranks, the root starts a `sinew run` for them."""

    def tearDown(self):
        self.assertEqual(survivors(), [])

    def test_without_a_launcher(self):
        result = run(PROGRAM, "hello")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(sorted(result.out.splitlines()),
                         ["spawned 0 of 2", "spawned 1 of 2", "spawner"])

    def test_under_another_launcher(self):
        mpiexec = find_mpiexec()
        if mpiexec is None:
            self.skipTest("MPICH's mpiexec.hydra is not installed")
        result = run(mpiexec, "-n", "3", PROGRAM, "hello")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(sorted(result.out.splitlines()),
                         ["spawned 0 of 2", "spawned 1 of 2"] + 3 * ["spawner"])

    def test_under_open_mpis_launchers(self):
        """Its mpirun, and PRRTE's own."""
        folder = os.path.join(os.path.dirname(os.path.dirname(SINEW)), "peers", "openmpi")
        if not os.access(os.path.join(folder, "bin", "prterun"), os.X_OK):
            self.skipTest("Open MPI is not in build/peers (tools/peers installs it)")
        allow = {f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE")
                 for end in ("", "_CONFIRM")}
        for program in ("mpirun", "prterun"):
            with self.subTest(program):
                where = {} if program == "mpirun" else {f"{name}_PREFIX": folder
                                                        for name in ("PRTE", "PMIX")}
                result = run(os.path.join(folder, "bin", program), "-n", "2", PROGRAM, "hello",
                             env=allow | where)
                self.assertEqual(result.code, 0, result.err)
                self.assertEqual(sorted(result.out.splitlines()),
                                 ["spawned 0 of 2", "spawned 1 of 2", "spawner", "spawner"])

    def test_death_is_told_to_the_parent(self):
        result = run(PROGRAM, "survive")
        self.assertEqual(result.code, 0, result.err)
        self.assertRegex(result.err, r"rank 1 .*was killed by SIGKILL")
        self.assertIn("there was a fault, and ranks were spawned again", result.out)

    def test_death_of_the_parent_is_told_too(self):
        result = run(PROGRAM, "orphans")
        self.assertEqual(result.code, -9, result.err)
        self.assertEqual(result.out, 2 * "the parent has died: 1\n")

    def test_programs_that_cannot_be_spawned(self):
        for words, sentence in ((("/no/such/program",), "was not found (/no/such/program)"),
                                (("/etc/passwd",), "cannot be executed (/etc/passwd)"),
                                (("true",), "have ended without having called MPI_Init")):
            with self.subTest(words=words):
                result = run(PROGRAM, "program", *words)
                self.assertEqual(result.code, 53, result.err)
                self.assertIn(sentence, result.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
