# SPDX-License-Identifier: BSD-3-Clause
"""Programs over several hosts started by others' launchers: MPICH's Hydra by PMI-1, a real Slurm by
PMIx and PMI-2, Open MPI's mpirun and PRRTE by PMIx; and `sinew run` inside Slurm's allocation and
by a real sshd. Words: sinew, boot_probe and launched."""
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
import slurm  # noqa: E402
import sshd  # noqa: E402
from over_hosts import AGENT, PROBE, SET, SINEW, TOOL, OverHosts, support, tool  # noqa: E402

PROGRAM = sys.argv[3]
SPAWNS = str(Path(PROGRAM).with_name("spawn_probe"))  # spawns two ranks and disconnects
BUILD = Path(SINEW).parents[1]
# Tests' own files: seen by all hosts, which have a /tmp each.
SHARED = Path(PROBE).parent


def peer(name, program):
    path = BUILD / "peers" / name / "bin" / program
    return str(path) if os.access(path, os.X_OK) else None


def good(where):
    """The lines of `launched` for ranks whose hosts these are, in order."""
    lines = []
    for rank, host in enumerate(where):
        lines.append(f"rank {rank} of {len(where)}, local {where[:rank].count(host)} of "
                     f"{where.count(host)} on {host}: good")
    return lines


def sorted_lines(text):
    return sorted(line for line in text.splitlines() if line.startswith("rank "))


class Launched(OverHosts):
    """What every launcher has to do; the classes below say how each is called."""

    def launch(self, *words, per_host=2, **how):
        raise NotImplementedError

    def check_all(self):
        where = ["h1", "h1", "h2", "h2"]
        with self.subTest("sums"):
            done = self.launch(PROGRAM, "sum")
            self.assertEqual((done.code, sorted_lines(done.out)), (0, good(where)), done.err)
        with self.subTest("keys"):
            for what in ("exchange", "nodes"):
                done = self.launch(PROBE, what)
                self.assertEqual(done.code, 0, done.out + done.err)
                self.assertEqual(len(sorted_lines(done.out)), 4, done.out)
        # A rank that ends ends the job: the others wait for it in a barrier.
        for what, victim, code, wanted in (("exit", "1", "7", self.codes_of_exit),
                                           ("abort", "3", "5", self.codes_of_abort),
                                           ("kill", "2", "0", self.codes_of_kill)):
            with self.subTest(what):
                done = self.launch(PROGRAM, what, victim, code, limit=over_hosts.LONGEST)
                self.assertIn(done.code, wanted, done.out + done.err)
                self.assertLess(done.seconds, 20, done.err)
                self.assertEqual(support.survivors(), [])

    codes_of_exit = codes_of_abort = codes_of_kill = ()


class ByOpenMpi(Launched):
    """Its mpirun, and PRRTE's own, which does not set Open MPI's variables for the ranks."""
    codes_of_exit, codes_of_abort, codes_of_kill = (7,), (5,), (137,)

    def launch(self, *words, per_host=2, **how):
        allow = {f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE")
                 for end in ("", "_CONFIRM")}
        if not self.command.endswith("/mpirun"):  # which finds its installation by itself
            allow |= {f"{name}_PREFIX": str(Path(self.command).parents[1])
                      for name in ("PRTE", "PMIX")}
        return support.run(sys.executable, str(TOOL), "--set", SET, "login", self.command,
                           "--prtemca", "plm_ssh_agent", AGENT, "--host",
                           f"h1:{per_host},h2:{per_host}", "-n", str(2 * per_host), "--map-by",
                           "slot", *words, env=allow, **how)

    def setUp(self):
        super().setUp()
        if peer("openmpi", "mpirun") is None:
            self.skipTest("Open MPI is not in build/peers (tools/peers installs it)")

    def test_mpirun(self):
        self.command = peer("openmpi", "mpirun")
        self.check_all()

    def test_prterun(self):
        self.command = peer("openmpi", "prterun")
        done = self.launch(PROGRAM, "sum")
        self.assertEqual((done.code, sorted_lines(done.out)),
                         (0, good(["h1", "h1", "h2", "h2"])), done.err)


class ByHydra(Launched):
    # 255: a proxy of Hydra has failed on what the others left when they were ended.
    codes_of_exit, codes_of_abort, codes_of_kill = (7, 9, 255), (5, 9, 255), (9, 137, 255)

    def launch(self, *words, per_host=2, **how):
        with tempfile.TemporaryDirectory(dir=SHARED) as folder:
            agent = Path(folder, "agent")
            agent.write_text(f"#!/bin/sh\nexec {AGENT} \"$@\"\n")
            agent.chmod(0o755)
            return support.run(sys.executable, str(TOOL), "--set", SET, "login", self.mpiexec,
                               "-iface", "bridge", "-launcher", "ssh", "-launcher-exec",
                               str(agent), "-hosts", "h1,h2", "-ppn", str(per_host), "-n",
                               str(2 * per_host), *words, **how)

    def test_mpiexec(self):
        self.mpiexec = peer("mpich", "mpiexec.hydra") or support.find_mpiexec()
        if self.mpiexec is None or Path(self.mpiexec).is_relative_to("/tmp"):
            self.skipTest("MPICH's mpiexec.hydra is not in build/peers (tools/peers installs it)")
        self.check_all()


class BySlurm(Launched):
    # srun ends with the highest code of its tasks, those among them that it has killed itself.
    codes_of_exit, codes_of_abort, codes_of_kill = (7, 137), (5, 137), (137,)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = None
        if not slurm.missing():
            cls.folder = tempfile.mkdtemp(dir=SHARED)
            cls.slurm = slurm.Slurm(lambda host, line: tool("exec", host, "sh", "-c", line),
                                    ["h1", "h2", "h3"], cls.folder)

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        if cls.folder is not None:
            shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        super().setUp()
        if slurm.missing():
            self.skipTest(slurm.missing())

    def on_h1(self, *words, **how):
        return support.run(sys.executable, str(TOOL), "--set", SET, "exec", "h1", *words,
                           env=self.slurm.environment, **how)

    def launch(self, *words, per_host=2, **how):
        return self.on_h1("srun", "-I20", "-N2", "-n", str(2 * per_host),
                          f"--ntasks-per-node={per_host}", "-w", "h1,h2", f"--mpi={self.kind}",
                          *words, **how)

    def test_pmix(self):
        self.kind = "pmix"
        self.check_all()

    def test_pmi2(self):
        self.kind = "pmi2"
        self.check_all()

    def test_spawn(self):
        """The new ranks are a job of `sinew run` in the same allocation."""
        self.kind = "pmix"
        done = self.launch(SPAWNS, "hello", per_host=1, limit=over_hosts.LONGEST)
        self.assertEqual(done.code, 0, done.out + done.err)
        self.assertEqual(sorted(done.out.splitlines()),
                         ["spawned 0 of 2", "spawned 1 of 2", "spawner", "spawner"])
        self.assertEqual(support.survivors(), [])

    def test_srun_without_pmi_is_refused(self):
        self.kind = "none"
        done = self.launch(PROGRAM, "sum")
        self.assertNotEqual(done.code, 0)
        self.assertIn("srun started 4 tasks without telling them of each other", done.err)
        self.assertIn("--mpi=pmix", done.err)

    def test_sinew_run_in_an_allocation(self):
        done = self.on_h1("salloc", "-Q", "-N2", "-n4", "--ntasks-per-node=2", "-w", "h2,h3",
                          SINEW, "run", PROGRAM, "sum")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted_lines(done.out), good(["h2", "h2", "h3", "h3"]))
        done = self.on_h1("salloc", "-Q", "-N2", "-n4", "--ntasks-per-node=2", "-w", "h2,h3",
                          SINEW, "run", PROBE, "crash", "2")
        self.assertEqual(done.code, 139, done.err)
        self.assertRegex(done.err, r"rank 2 of 4 .*on h3\) was killed by SIGSEGV")
        self.assertEqual(support.survivors(), [])


class BySsh(OverHosts):
    """`sinew run` with its usual agent, and an sshd on each host."""

    def start_daemons(self, *hosts):
        if sshd.missing():
            self.skipTest(sshd.missing())
        folder = tempfile.mkdtemp(dir=SHARED)
        self.addCleanup(shutil.rmtree, folder)
        return sshd.start(lambda host, line: tool("exec", host, "sh", "-c", line), hosts, folder)

    def test_a_host_of_spawned_ranks_dies(self):
        """Who has spawned them is told, without --survive, and spawns others elsewhere."""
        agent = self.start_daemons("h1", "h2", "h3")
        self.addCleanup(lambda: (tool("down"), tool("up", str(self.count))))
        self.begin(*over_hosts.BOUND, SPAWNS, "lost", "h3", hosts="h1:1,h2:1", agent=agent)
        for _ in range(2):
            self.assertEqual(self.started.stdout.readline(), b"spawned\n")
        tool("kill", "h3")
        out, err = self.started.communicate(timeout=over_hosts.LONGEST)
        self.assertEqual((self.started.returncode, out.decode()),
                         (0, 2 * "there was a fault, and ranks were spawned again\n"),
                         err.decode())

    def test_by_ssh(self):
        agent = self.start_daemons("h1", "h2")
        done = over_hosts.run(PROGRAM, "sum", agent=agent)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted_lines(done.out), good(["h1", "h1", "h2", "h2"]))
        done = over_hosts.run(PROBE, "crash", "2", agent=agent)
        self.assertEqual(done.code, 139, done.err)
        self.assertRegex(done.err, r"rank 2 of 4 .*on h2\) was killed by SIGSEGV")
        # The root's host starts the new ranks, one on each host.
        done = over_hosts.run(SPAWNS, "where", agent=agent, hosts="h1:1,h2:1")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()),
                         ["spawned 0 of 2 on h1", "spawned 1 of 2 on h2"])
        # All ranks of the job are on one of its hosts: the new ones fill what room is left.
        done = over_hosts.run("-n", "1", SPAWNS, "where", agent=agent, hosts="h1:2,h2:2")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()),
                         ["spawned 0 of 2 on h1", "spawned 1 of 2 on h2"])
        done = over_hosts.run("-n", "1", SPAWNS, "universe", agent=agent, hosts="h1:2,h2:2")
        self.assertEqual((done.code, done.err, done.out), (0, "", "universe of 4\n"))
        done = over_hosts.run("-n", "1", SPAWNS, "where", agent=agent, hosts="h2:3")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()),
                         ["spawned 0 of 2 on h2", "spawned 1 of 2 on h2"])


if __name__ == "__main__":
    over_hosts.main(words=4)
