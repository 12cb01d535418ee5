# SPDX-License-Identifier: BSD-3-Clause
"""`sinew simulate` and `sinew explore`: jobs in virtual time.

usage: simulate_test.py SINEW BOOT_PROBE MPI_RING
"""
import json
import os
import re
import signal
import sys
import tempfile
import time
import unittest

from support import PROBE, SINEW, run, start, survivors

BUILT = os.path.dirname(PROBE)
RING = sys.argv.pop(3)
RACE = os.path.join(BUILT, "explored_race")
ORDER = os.path.join(BUILT, "explored_order")
FIGURES = re.compile(r"sinew simulate: ([\d.]+) (us|s) of virtual time(.*), ([\d.]+) s real; "
                     r"(\d+) messages, (\d+) bytes; (.*); seed (\d+), digest ([0-9a-f]{16})\.\n")

WAITS = re.compile(r"ranks waited for ([\d.]+) % of the virtual time: (.*)\.\n")


def simulate(*words, **how):
    return run(SINEW, "simulate", *words, **how)


def figures(done):
    return FIGURES.search(done.err).groups()


def virtual_us(done):
    number, unit = figures(done)[:2]
    return float(number) * (1 if unit == "us" else 1e6)


class Simulate(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(survivors(), [])

    def test_a_program_runs_and_its_figures_are_told(self):
        done = simulate("-n", "4", RING)
        self.assertEqual((done.code, done.out), (0, "sum 6\n"), done.err)
        virtual, unit, early, _, messages, size, busiest, seed, _ = figures(done)
        self.assertEqual((unit, early, seed), ("us", "", "0"))
        self.assertGreater(float(virtual), 10)
        self.assertGreater(int(messages), 40)
        self.assertGreater(int(size), 0)
        self.assertIn("busiest links from node", busiest)
        self.assertRegex(done.err, r"ranks waited for [\d.]+ % of the virtual time: MPI_\w+ [\d.]+")

    def test_waits_are_told_by_call(self):
        done = simulate("-n", "4", "--fault", "slow:0@0-2000000000+5000000", RING)
        self.assertEqual(done.code, 0, done.err)
        told = WAITS.search(done.err)
        calls = {call: float(share) for call, share in re.findall(r"(\w+) ([\d.]+) %",
                                                                  told.group(2))}
        self.assertLess(abs(sum(calls.values()) - float(told.group(1))), 1, told.group(0))
        self.assertGreater(sum(calls.values()), 60)  # three wait for the one that is slow
        self.assertIn("MPI_Sendrecv_replace", calls)

    def test_profiles_and_traces_are_of_virtual_time(self):
        with tempfile.TemporaryDirectory() as folder:
            seen = []
            for _ in range(2):
                path = os.path.join(folder, "p.json")
                done = simulate("--seed", "4", "-n", "4", "--profile=" + path, RING)
                self.assertEqual(done.code, 0, done.err)
                with open(path) as file:
                    ranks = json.load(file)["ranks"]
                for each in ranks:
                    calls = sum(call["total_ns"] for call in each["calls"])
                    self.assertGreater(each["run_ns"], 10_000)
                    self.assertLess(each["run_ns"], 1000 * virtual_us(done))
                    self.assertLess(calls, 1000 * virtual_us(done))
                path = os.path.join(folder, "t.json")
                done = simulate("--seed", "4", "-n", "4", "--trace", path, RING)
                self.assertEqual(done.code, 0, done.err)
                with open(path) as file:
                    records = [r for r in json.load(file)["traceEvents"] if r["ph"] != "M"]
                self.assertIn("MPI_Barrier", {r["name"] for r in records})
                self.assertLess(max(r["ts"] for r in records), virtual_us(done) + 1)
                seen.append((ranks, [(r["name"], r["pid"], r["ts"]) for r in records]))
            self.assertEqual(seen[0], seen[1])

    def test_threads_take_turns_as_fibers(self):
        program = os.path.join(BUILT, "explored_threads")
        for seed in ("0", "3"):
            runs = [simulate("--threads-as-fibers", "--seed", seed, "-n", "3", program)
                    for _ in range(4)]
            for done in runs:
                self.assertEqual((done.code, done.out), (0, "sum 8172\n"), done.err)
            self.assertEqual(len({figures(d)[-1] for d in runs}), 1, seed)
        done = simulate("--threads-as-fibers", "-n", "2", program, "deadlock")
        self.assertEqual(done.code, 1, done.err)
        self.assertIn("deadlock after", done.err)
        self.assertIn("receive from any source, tag 77", done.err)

    def test_one_rank_runs_in_virtual_time_too(self):
        done = simulate("-n", "1", RING)
        self.assertEqual((done.code, done.out), (0, "sum 0\n"), done.err)
        self.assertGreater(int(figures(done)[4]), 0)

    def test_a_killed_rank_ends_the_job(self):
        done = simulate("-n", "3", "sh", "-c", "test $PMI_RANK != 1 || kill -9 $$; exec " + RING)
        self.assertEqual(done.code, 137, done.err)
        self.assertIn("was killed by SIGKILL", done.err)

    def test_the_same_seed_gives_the_same_run(self):
        for seed in ("0", "5"):
            runs = [simulate("--seed", seed, "-n", "16", "--network", "torus:4x4", RING)
                    for _ in range(3)]
            for done in runs:
                self.assertEqual(done.code, 0, done.err)
            self.assertEqual(len({(figures(d)[0], figures(d)[-1]) for d in runs}), 1, seed)
        other = simulate("--seed", "6", "-n", "16", "--network", "torus:4x4", RING)
        self.assertNotEqual(figures(other)[-1], figures(runs[0])[-1])

    def test_the_network_decides_about_time(self):
        near = simulate("-n", "8", "--network", "torus:8,latency=1000", RING)
        far = simulate("-n", "8", "--network", "torus:8,latency=100000", RING)
        self.assertEqual((near.code, far.code), (0, 0), near.err + far.err)
        self.assertGreater(virtual_us(far), 10 * virtual_us(near))

    def test_a_deadlock_is_told_at_once(self):
        done = run(SINEW, "explore", "--runs", "400", "-n", "3", ORDER)
        self.assertEqual(done.code, 1, done.out + done.err)
        self.assertIn("every rank waits, and nothing is under way", done.out)
        self.assertIn("waits, as all others do", done.out)
        self.assertIn("receive from rank 1, tag 3", done.out)
        command = re.search(r"repeat it with: (.*)\n", done.out).group(1).split()
        self.assertEqual(command[0], "sinew")
        again = run(SINEW, *command[1:])
        self.assertEqual(again.code, 1, again.err)
        self.assertIn("deadlock after", again.err)
        self.assertLess(again.seconds, 20)

    def test_deaths_are_survived_in_virtual_time(self):
        program = os.path.join(BUILT, "mpi_survive")
        done = simulate("--survive", "--seed", "3", "-n", "3", program)
        self.assertEqual((done.code, done.out), (0, "survived\n"), done.err)
        self.assertIn("rank 2 of 3 (pid", done.err)
        self.assertIn("was killed by SIGKILL (Killed); the others go on (--survive)", done.err)
        self.assertLess(virtual_us(done), 10_000)
        done = simulate("--survive", "-n", "2", "sh", "-c", "kill -9 $$")
        self.assertEqual(done.code, 137, done.err)

    def test_a_deadlock_after_a_death_is_told(self):
        done = simulate("--survive", "--timeout", "20", "-n", "3", os.path.join(BUILT,
                                                                                "explored_left"))
        self.assertEqual(done.code, 1, done.err)
        self.assertIn("deadlock after", done.err)
        self.assertIn("receive from rank 0, tag 1", done.err)

    def test_faults_are_drawn_and_repeated(self):
        program = os.path.join(BUILT, "explored_tolerant")
        done = run(SINEW, "explore", "--survive", "--faults", "ranks", "--runs", "60", "-n", "4",
                   program, "careless")
        self.assertEqual(done.code, 1, done.out + done.err)
        self.assertIn("ends otherwise: code 6", done.out)
        command = re.search(r"repeat it with: sinew (.*)\n", done.out).group(1)
        self.assertRegex(command, r"simulate --seed \d+ --fault kill:\d@\d+ --survive -n 4 ")
        again = run(SINEW, *command.split())
        self.assertEqual(again.code, 6, again.err)
        for words in (("--faults", "ranks"), ("--faults=hosts", "--ranks-per-node=2")):
            done = run(SINEW, "explore", "--survive", "--runs", "30", *words, "-n", "4", program)
            self.assertEqual(done.code, 0, done.out + done.err)
            self.assertIn("all 30 runs end as the usual one", done.out)
        done = run(SINEW, "explore", "--faults", "slow", "--runs", "20", "-n", "3", RING)
        self.assertEqual(done.code, 0, done.out + done.err)

    def test_a_link_that_fails_delays_messages(self):
        words = ("--network", "torus:4x4", "-n", "16")
        usual = virtual_us(simulate(*words, RING))
        for fault, least, most in (("link:0-1@0", 100, 400), ("link:0-1@0-50000", 40, 150),
                                   ("link:0-1@0-10000000/1000", 20, 10000)):
            done = [simulate(*words, "--fault", fault, RING) for _ in range(2)]
            self.assertEqual((done[0].code, done[0].out), (0, "sum 120\n"), done[0].err)
            self.assertGreater(virtual_us(done[0]), usual + least, fault)
            self.assertLess(virtual_us(done[0]), usual + most, fault)
            self.assertEqual(figures(done[0])[-1], figures(done[1])[-1], fault)

    def test_ranks_that_a_link_cuts_off_are_lost(self):
        words = ("--network", "fattree:1;4;1;1", "--fault", "link:2-4@30000", "-n", "4")
        done = simulate(*words, RING)
        self.assertEqual(done.code, 137, done.err)
        self.assertIn("rank 2 of 4", done.err)
        done = simulate("--survive", *words, os.path.join(BUILT, "explored_tolerant"))
        self.assertEqual((done.code, done.out), (0, "done\n"), done.err)
        self.assertGreater(virtual_us(done), 10_000)

    def test_links_are_drawn_and_repeated(self):
        done = run(SINEW, "explore", "--faults", "links", "--runs", "40", "-n", "4", RING)
        self.assertEqual(done.code, 0, done.out + done.err)
        self.assertIn("with code 0, or 137 where a rank has died", done.out)
        done = run(SINEW, "explore", "--survive", "--faults=links", "--runs=60", "-n", "4",
                   os.path.join(BUILT, "explored_tolerant"), "careless")
        self.assertEqual(done.code, 1, done.out + done.err)
        command = re.search(r"repeat it with: sinew (.*)\n", done.out).group(1)
        self.assertRegex(command, r"simulate --seed \d+ --fault link:\d-4@\d+ --survive -n 4 ")
        self.assertEqual(run(SINEW, *command.split()).code, 6)

    def test_faults_and_steering_go_together(self):
        program = os.path.join(BUILT, "explored_choices")
        for faults in ("slow", "links"):
            done = run(SINEW, "explore", "--faults", faults, "--runs", "80", "-n", "4", program)
            self.assertEqual(done.code, 0, done.out + done.err)
            self.assertIn("wildcard receives: 9 of 9 matches seen\n", done.out)
        done = run(SINEW, "explore", "--faults", "slow", "--runs=10", "-n", "3", RACE, "2000")
        self.assertEqual(done.code, 1, done.out + done.err)
        self.assertIn("--match 0:1=2", done.out)

    def test_without_survive_a_drawn_death_ends_the_job(self):
        done = run(SINEW, "explore", "--faults", "ranks", "--runs", "30", "-n", "4", RING)
        self.assertEqual(done.code, 0, done.out + done.err)
        self.assertIn("with code 0, or 137 where a rank has died", done.out)
        for time_ns, code in (("0", 137), ("30000", 137), ("100000000000", 0)):
            done = simulate("--fault", "kill:1@" + time_ns, "-n", "3", RING)
            self.assertEqual(done.code, code, done.err)
        slow = simulate("--fault", "slow:1@0-1000000+50000", "-n", "3", RING)
        self.assertEqual(slow.code, 0, slow.err)
        self.assertGreater(virtual_us(slow), virtual_us(simulate("-n", "3", RING)) + 50)

    def test_a_rank_that_fails_in_a_session_after_the_last_ends_the_job_at_once(self):
        program = os.path.join(BUILT, "explored_reopened")
        for command in ("run", "simulate"):
            for how, code, wanted in (("kill", 137, "was killed by SIGKILL"), ("well", 0, "")):
                done = run(SINEW, command, "--timeout", "8", "-n", "3", program, how)
                self.assertEqual(done.code, code, f"{command} {how}: {done.err}")
                self.assertIn(wanted, done.err)
                self.assertLess(done.seconds, 4, f"{command} {how}: {done.err}")

    def test_a_race_is_found(self):
        done = run(SINEW, "explore", "-n", "3", "--runs=400", RACE)
        self.assertEqual(done.code, 1, done.out + done.err)
        self.assertRegex(done.out, r"seed \d+, match 0:1=2 ends otherwise: code 3, where the usual "
                                   r"run has 0")
        self.assertIn("came from rank 2", done.out)

    def test_the_command_that_repeats_a_run_leaves_the_programs_arguments_alone(self):
        own = ["1", "--runs", "3", "--faults=4", ":", "-n", "1", "--", RACE, "1", "--seed", "5"]
        done = run(SINEW, "explore", "--seed", "9", "-np", "2", "--runs=10", "-x", "--runs=1",
                   RACE, *own)
        self.assertEqual(done.code, 1, done.out + done.err)
        command = re.search(r"repeat it with: (.*)\n", done.out).group(1).split()
        self.assertEqual(command[:4], ["sinew", "simulate", "--seed", "0"])
        self.assertEqual(command[4:], ["--match", "0:1=2", "-n", "2", "-x", "--runs=1", RACE, *own])
        self.assertEqual(run(SINEW, *command[1:]).code, 3)

    def test_what_delays_do_not_reach_is_met_all_the_same(self):
        done = run(SINEW, "explore", "-n", "3", "--runs=10", RACE, "2000")
        self.assertEqual(done.code, 1, done.out + done.err)
        command = re.search(r"repeat it with: sinew (.*)\n", done.out).group(1)
        self.assertIn("simulate --seed 0 --match 0:1=2 -n 3 ", command)
        again = [run(SINEW, *command.split()) for _ in range(2)]
        self.assertEqual([a.code for a in again], [3, 3], again[0].err)

    def test_each_match_is_met_once(self):
        program = os.path.join(BUILT, "explored_choices")
        for how, ranks, runs, wanted in (
                ("receive", 4, 60, "9 of 9 matches seen\n"),
                ("probe", 4, 60, "9 of 9 matches seen\n"),
                ("poll", 4, 60, "9 of 9 matches seen\n"),
                ("claim", 4, 60, "9 of 9 matches seen\n"),
                ("bound", 3, 20, "2 of 2 matches seen, 1 more has turned out impossible\n"),
                ("bound-poll", 3, 20, "2 of 2 matches seen, 1 more has turned out impossible\n"),
                ("receive", 4, 2, "seen; --runs was too few for the rest\n"),
        ):
            done = run(SINEW, "explore", "--runs", str(runs), "-n", str(ranks), program, how)
            self.assertEqual(done.code, 0, done.out + done.err)
            self.assertIn(f"all {runs} runs end as the usual one", done.out)
            self.assertIn("wildcard receives: ", done.out)
            self.assertTrue(done.out.endswith(wanted), f"{how}: {done.out}")

    def test_runs_that_end_alike(self):
        done = run(SINEW, "explore", "-n", "3", "--runs", "20", "--same-output", RING)
        self.assertEqual(done.code, 0, done.out + done.err)
        self.assertIn("all 20 runs end as the usual one", done.out)

    def test_a_usual_run_that_fails_is_shown(self):
        done = run(SINEW, "explore", "-n", "1", "--runs", "5", "sh", "-c", "echo no; exit 4")
        self.assertEqual(done.code, 1)
        self.assertIn("ends with code 4:\nno\n", done.out)

    def test_a_picture_shows_what_links_carried(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "loads.svg")
            done = simulate("--network", "torus:4x4", "--picture", path, "-n", "16", RING)
            self.assertEqual(done.code, 0, done.err)
            with open(path) as file:
                picture = file.read()
            self.assertIn("Loads of links on 4x4, 16 ranks", picture)
            self.assertIn("simulated: busiest link", picture)
            done = simulate("--picture", os.path.join(folder, "no/such.svg"), "-n", "2", RING)
            self.assertNotEqual(done.code, 0)
            self.assertIn("such.svg", done.err)

    def test_wrong_options(self):
        for words, wanted in (
                (("--network", "torus:4,hop=x"), "cannot be read"),
                (("--network", "torus:4,speeds=fast"), "speeds= takes one of bgq, tofu"),
                (("--network", "moon:4"), "moon"),
                (("--network", "torus:2", "-n", "4"), "have no room on"),
                (("--seed", "-1"), "--seed takes a whole number"),
                (("--compute", "fast"), "--compute takes none"),
                (("--hosts", "a,b"), "runs on this machine"),
                (("--fault", "kill:1"), "neither kill:RANK@TIME nor"),
                (("--fault", "kill:4@1", "-n", "4"), "the job has 4 ranks"),
                (("--match", "1=2"), "is not RANK:NUMBER=SENDER"),
                (("--faults", "ranks"), "is for the runs of sinew explore"),
                (("--faults", "cats"), "takes ranks, hosts, links or slow"),
                (("--fault", "link:0-1"), "nor link:NODE-NODE@FROM[-TO[/TIMES]]"),
                (("--fault", "link:0-1@5", "-n", "2"), "no link between these nodes"),
        ):
            done = simulate(*words, RING)
            self.assertNotEqual(done.code, 0, words)
            self.assertIn(wanted, done.err)
        done = simulate("--calibrate", "some.speeds", RING)
        self.assertEqual(done.code, 2)
        self.assertIn("--calibrate runs no program", done.err)
        done = run(SINEW, "run", "--seed", "4", RING)
        self.assertEqual(done.code, 2)
        self.assertIn("need --simulate", done.err)

    def test_what_is_measured_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "here.speeds")
            measured = simulate("--calibrate", path, limit=120)
            self.assertEqual(measured.code, 0, measured.err)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(measured.out, text)
            speeds = dict(line.split("=") for line in text.splitlines() if line[0] != "#")
            self.assertEqual(len(speeds), 10, text)
            self.assertEqual(float(speeds.pop("hop")), 0)
            for name, value in speeds.items():
                self.assertGreater(float(value), 0, name)
            # Two trips of a ring of two at least, each with the latency that was measured.
            done = simulate("--network", "speeds=" + path, "-n", "2", RING)
            self.assertEqual((done.code, done.out), (0, "sum 1\n"), done.err)
            self.assertGreater(virtual_us(done), 2e-3 * float(speeds["latency"]))

    def test_programs_without_mpi_run(self):
        done = simulate("-n", "2", "echo", "hello")
        self.assertEqual((done.code, done.out), (0, "hello\nhello\n"), done.err)

    def test_an_interrupted_job_says_that_it_is_partial(self):
        process = start(SINEW, "simulate", "-n", "2", "sleep", "60")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn(b"until the job ended early", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
