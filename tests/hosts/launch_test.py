# SPDX-License-Identifier: BSD-3-Clause
"""sinew run over several hosts: what it does, how it ends, and that nothing stays behind."""
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
from over_hosts import (  # noqa: E402
    AGENT, LIMIT, PROBE, SET, SINEW, TOOL, OverHosts, launcher, processes, run, support, tool)

SEED = int(os.environ.get("SINEW_TEST_SEED", "7"))
KILLS = int(os.environ.get("SINEW_TEST_KILLS", "12"))


class Works(OverHosts):
    def test_ranks_know_their_nodes(self):
        for words, places in ((["--map-by", "slot"], [0, 0, 1, 1]), (["--map-by=node"],
                                                                     [0, 1, 0, 1])):
            done = run(*words, PROBE, "nodes")
            self.assertEqual((done.code, done.err), (0, ""))
            local = [0, 1, 0, 1] if words[-1] == "slot" else [0, 0, 1, 1]
            self.assertEqual(sorted(done.out.splitlines()), [
                f"rank {rank} of 4, local {local[rank]} of 2, node {node} of 2: h{node + 1}"
                for rank, node in enumerate(places)])

    def test_where_the_launcher_cannot_be_called_the_agent_carries_all(self):
        done = support.sinew_run("--hosts", "h1,h2,h3", "--rsh", AGENT, PROBE)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(done.out.count(": good\n"), 3)

    def test_this_machine_and_another(self):
        done = support.sinew_run("--hosts", "localhost:2,h2", "--rsh", AGENT, PROBE, "nodes")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertIn("rank 2 of 3, local 0 of 1, node 1 of 2: h2", done.out)

    def test_host_files_and_counts(self):
        for text, words, wanted in (
                ("# ours\nh1:2\n\nh2\n", [], ["h1", "h1", "h2"]),
                ("h1 slots=1 max_slots=4\nh3 slots=2  # fast\n", [], ["h1", "h3", "h3"]),
                ("h1\nh2\n", ["--ppn", "2"], ["h1", "h1", "h2", "h2"]),
                ("h1\nh2\n", ["-n", "5"], ["h1", "h1", "h1", "h2", "h2"]),
                ("h1:9\nh2:9\n", ["-n", "3"], ["h1", "h1", "h1"])):
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(text)
                file.flush()
                done = support.sinew_run("--hostfile", file.name, "--rsh", AGENT, *words,
                                         "hostname")
            self.assertEqual((done.code, done.err), (0, ""))
            self.assertEqual(sorted(done.out.split()), wanted)

    def test_output_labels_and_files(self):
        done = run("-l", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual(sorted(done.out.splitlines()), [f"[{rank}] out" for rank in range(4)])
        self.assertEqual(sorted(done.err.splitlines()), [f"[{rank}] err" for rank in range(4)])
        with tempfile.TemporaryDirectory() as folder:
            done = run("--output-dir", folder, "sh", "-c", "hostname; echo err >&2")
            self.assertEqual((done.code, done.out), (0, ""))
            self.assertEqual(Path(folder, "rank.2.out").read_text(), "h2\n")
            self.assertEqual(Path(folder, "rank.3.err").read_text(), "err\n")
            done = run("-o", folder + "/of.%r", "hostname")
            self.assertEqual(Path(folder, "of.1").read_text(), "h1\n")

    def test_much_output_and_a_reader_that_goes(self):
        done = run("-l", "seq", "200000", hosts="h1,h2")
        self.assertEqual(len(done.out.splitlines()), 400000)
        self.assertEqual(len(set(done.out.splitlines())), 400000)
        line = " ".join(launcher("yes", hosts="h1,h2")).replace(AGENT, f"'{AGENT}'")
        done = support.run("sh", "-c", line + " | head -1")
        self.assertEqual(done.out, "y\n")

    def test_input(self):
        text = b"".join(b"line %d\n" % n for n in range(100000))
        done = run("--stdin", "2", "wc", "-c", feed=text)
        self.assertEqual(sorted(done.out.split()), ["0", "0", "0", str(len(text))])
        done = run("--stdin", "all", "wc", "-c", feed=text)
        self.assertEqual(done.out.split(), [str(len(text))] * 4)
        done = run("--stdin", "0", "head", "-1", feed=text)
        self.assertEqual((done.code, done.out), (0, "line 0\n"))

    def test_environment_directory_and_words(self):
        done = support.run(*launcher("-x", "A=b c", "sh", "-c", "echo $A $B $0; pwd", "d  e"),
                           env={"B": "it's"}, cwd="/usr")
        self.assertEqual(sorted(done.out.splitlines()), ["/usr"] * 4 + ["b c it's d e"] * 4)

    def test_another_mpi_is_told_once(self):
        program = Path(PROBE).parent / "other_mpi_indirect"
        done = run(str(program))
        self.assertEqual((done.code, done.out), (0, ""))
        self.assertRegex(done.err, r"^sinew run: rank \d of 4 \(pid \d+ on h[12]\) has loaded "
                         rf"another MPI, {program.parent}/other_mpi/libmpi_cray\.so\.12, .*\.\n$")

    def test_a_program_of_its_directory(self):
        with tempfile.TemporaryDirectory(dir=Path(PROBE).parent) as folder:  # hosts have own /tmp
            program = Path(folder, "prog")
            program.write_text("#!/bin/sh\nhostname\n")
            program.chmod(0o755)
            done = support.run(*launcher("--wdir", folder, "./prog"), cwd="/usr")
            self.assertEqual(sorted(done.out.split()), ["h1", "h1", "h2", "h2"], done.err)

    def test_two_jobs_at_once(self):
        other = support.start(*launcher(PROBE, "nodes"))
        done = run(PROBE, "exchange")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(other.communicate(timeout=30)[1], b"")

    def test_the_secret_is_in_no_argument(self):
        self.begin(PROBE, "sleep")
        for pid in self.wait_for(lambda: processes("sinew", "daemon"), 2):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            self.assertEqual(command[1:], [b"daemon", b""])
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            self.assertIsNone(re.search(rb"=[0-9a-f]{32}", environment))
        self.started.send_signal(signal.SIGINT)
        self.assertEqual(self.end()[0], 130)


class OtherLaunchers(OverHosts):
    def script(self, folder, name, text):
        path = Path(folder, name)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return str(path)

    def test_inside_a_slurm_job(self):
        """By an srun that does with these words what Slurm's does: one task on one node."""
        with tempfile.TemporaryDirectory() as folder:
            self.script(folder, "srun", "while [ $1 != --nodelist ]; do shift; done; shift\n"
                        "host=$1; shift; exec %s %s --set %s exec $host \"$@\""
                        % (sys.executable, TOOL, SET))
            slurm = {"PATH": folder + ":" + os.environ["PATH"], "SLURM_JOB_NODELIST": "h[1-2],h4",
                     "SLURM_TASKS_PER_NODE": "2,1(x2)"}
            login = (sys.executable, str(TOOL), "--set", SET, "login", SINEW, "run")
            done = support.run(*login, "hostname", env=slurm)
            self.assertEqual((done.code, sorted(done.out.split()), done.err),
                             (0, ["h1", "h1", "h2", "h4"], ""))
            done = support.run(*login, "-n", "3", "--map-by", "node", "hostname", env=slurm)
            self.assertEqual((done.code, sorted(done.out.split())), (0, ["h1", "h2", "h4"]))


class Ends(OverHosts):
    def check(self, done, code, text):
        self.assertEqual(done.code, code, done.err)
        self.assertRegex(done.err, text)

    def test_codes(self):
        self.check(run("sh", "-c", "exit 7", hosts="h1,h2"), 7, "h[12]\\) exited with code 7")
        self.check(run(PROBE, "crash", "2"), 139, "(?s)rank 2 of 4 crashed on h2.*on h2\\) was "
                   "killed by SIGSEGV.*ending the other 3 ranks")
        self.check(run(PROBE, "abort", "3", "5"), 5, "on h2\\) aborted the job with code 5: the")
        self.check(run("--timeout", "1", "sleep", "20"), 124,
                   "still running on h1: rank 0, 1; on h2: rank 2, 3")
        self.check(run("no-such-program"), 127, "h[12]: no-such-program: not found in PATH")
        self.check(run(PROBE, "vanish", "1"), 1, "on h1\\) exited with code 0 but without MPI_Fin")
        self.check(run("--wdir", "/nowhere", "hostname"), 127, "on h[12]: its directory")

    def test_ends_without_finalize(self):
        done = run(PROBE, "forget", "9")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(done.err.count("ends without MPI_Finalize"), 4)

        # One goes on for ever, on another host than those that end.
        done = run(PROBE, "forget", "2", "1", hosts="h1:2,h2:1")
        self.check(done, 1, "ended without MPI_Finalize while other ranks go on")

    def test_a_failure_after_finalize_leaves_time_for_results(self):
        self.started = support.start(*launcher(PROBE, "results", "1", "3", hosts="h1,h2"),
                                     stdin=subprocess.PIPE)
        told, wanted = b"", b"exited with code 3; the other rank in or after"
        while told.count(b"\n") < 3 and wanted not in told:
            told += self.started.stderr.readline()  # a slow host may be told of before
        out, err = self.started.communicate(b"go\n", timeout=60)
        self.assertEqual((self.started.returncode, out, err), (3, b"result\n", b""), told)

    def test_hosts_that_cannot_be_used(self):
        self.check(run("hostname", hosts="h1,h9"), 1, "the host h9 cannot be used: .*no host 'h9'")
        self.check(run("hostname", agent="no-such-agent"), 127, "h1 cannot be reached.*--rsh")
        with tempfile.TemporaryDirectory() as folder:
            agent = Path(folder, "agent")

            def check_agent(script, code, text):
                agent.write_text("#!/bin/sh\n" + script)
                agent.chmod(0o755)
                self.check(run("hostname", agent=str(agent)), code, text)

            check_agent("exec %s $1 exec /nowhere/sinew daemon" % AGENT, 1,
                        "the host h[12] has no Sinew at .*install the same build there")
            check_agent("head -1 | sed 's/+[0-9a-f]*/+old/' | %s \"$@\"" % AGENT, 1,
                        "h[12] cannot be used.*another build.*install the same build on all")
            check_agent("echo Permission denied >&2; exit 255", 1,
                        "h[12] cannot be used.*ended with code 255: Permission denied")
            # What a shell's start-up file prints does no harm; errors are told.
            check_agent("echo Welcome; echo to >&2; exec %s \"$@\"" % AGENT, 0,
                        "^(sinew run: h[12]: to[.]\n){2}$")

    def test_all_that_an_agent_says_is_told_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            agent = Path(folder, "agent")
            agent.write_text("#!/bin/sh\necho 'Welcome.'\nprintf 'The key of ' >&2\nsleep 0.3\n"
                             "echo \"$1 has changed.\" >&2\nprintf 'No entry' >&2\nexit 255\n")
            agent.chmod(0o755)
            done = run("hostname", agent=str(agent), hosts="h1")
            self.assertRegex(done.err, "^sinew run: h1: Welcome.\n"
                             "sinew run: h1: The key of h1 has changed.\n"
                             "sinew run: the host h1 cannot be used: \\S+agent ended with code "
                             "255: No entry")
            agent.write_text("#!/bin/sh\n(printf 'the queue '; sleep 0.3; echo 'is long') >&2\n"
                             "exec %s \"$@\"\n" % AGENT)
            done = run("hostname", agent=str(agent), hosts="h1")
            self.assertEqual((done.out, done.err), ("h1\n", "sinew run: h1: the queue is long.\n"))

    def test_interrupts(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            self.begin(PROBE, "sleep")
            self.wait_for(lambda: processes("boot_probe", "sleep"), 4)
            self.started.send_signal(number)
            self.assertEqual(self.end()[0], code)

    def test_a_stopped_launcher_stops_the_ranks_and_goes_on(self):
        self.begin("--host-timeout", "2", "sh", "-c", "sleep 4; echo done")
        self.wait_for(lambda: processes("sleep"), 4)
        self.started.send_signal(signal.SIGTSTP)
        time.sleep(3.5)
        self.started.send_signal(signal.SIGCONT)
        out, err = self.started.communicate(timeout=30)
        self.assertEqual((self.started.returncode, out, err), (0, b"done\n" * 4, b""))


class Lost(OverHosts):
    """Hosts, links and processes that go."""

    def sleepers(self):
        self.begin(PROBE, "sleep")
        return self.wait_for(lambda: processes("boot_probe", "sleep"), 4)

    def test_the_launcher_is_killed(self):
        self.sleepers()
        self.started.kill()
        self.started.communicate(timeout=20)

    def test_a_daemon_is_killed(self):
        self.sleepers()
        os.kill(processes("sinew", "daemon")[0], signal.SIGKILL)
        code, err = self.end()
        self.assertEqual(code, 1)
        self.assertRegex(err, "the daemon on the host h[12] has ended, or was killed")

    def test_a_cut_of_two_seconds_is_survived(self):
        # On a busy machine the tool alone takes a second to cut and to join: more than the default.
        self.begin("--host-timeout", "8", "sh", "-c", "sleep 5; echo done")
        self.wait_for(lambda: processes("sleep"), 4)
        tool("cut", "h2")
        time.sleep(2)
        tool("join", "h2")
        out, err = self.started.communicate(timeout=40)
        self.assertEqual((self.started.returncode, out, err), (0, b"done\n" * 4, b""))

    def test_a_link_that_is_cut_for_ever(self):
        self.sleepers()
        began = time.monotonic()
        tool("cut", "h2")
        self.addCleanup(tool, "join", "h2")
        code, err = self.end()
        self.assertEqual(code, 1)
        self.assertRegex(err, "the host h2 is lost: nothing was heard of it for 4 s")
        self.assertEqual(support.survivors(), [])
        self.assertLess(time.monotonic() - began, LIMIT + 1)

    def test_a_host_that_dies(self):
        self.sleepers()
        tool("kill", "h2")
        code, err = self.end()
        self.assertEqual(code, 1)
        self.assertRegex(err, "the host h2")
        tool("down")
        self.assertEqual(tool("up", "4").returncode, 0)

    def test_kills_at_random_moments(self):
        """Whatever is killed, and whenever: the job ends, and nothing is left."""
        print("seed", SEED, flush=True)
        chance = random.Random(SEED)
        for _ in range(KILLS):
            what = chance.choice(["rank", "daemon", "launcher", "agent"])
            self.begin(PROBE, "sleep")
            time.sleep(chance.random() * 0.8)
            victims = {"rank": processes("boot_probe", "sleep"),
                       "daemon": processes("sinew", "daemon"),
                       "launcher": [self.started.pid],
                       "agent": processes("nsenter")}[what]
            if victims:
                os.kill(chance.choice(victims), signal.SIGKILL)
            else:
                self.started.send_signal(signal.SIGTERM)
            time.sleep(0.05)
            if what == "agent":
                self.started.send_signal(signal.SIGTERM)
            code, err = self.end()
            self.assertNotEqual(code, 0, what)
            self.assertEqual(support.survivors(), [], (what, err))


if __name__ == "__main__":
    over_hosts.main()
