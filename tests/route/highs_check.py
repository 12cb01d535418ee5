# SPDX-License-Identifier: BSD-3-Clause
"""Plans beside HiGHS, a solver of linear programs that is not ours: over all routes that a network
has, no plan can be better than its optimum, and what a plan's certificate calls unavoidable cannot
be more. Skipped (77) where Python has no highspy.

highs_check.py SINEW
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

try:
    import highspy
    import numpy
except ImportError as why:
    print(f"skipped: {why} (pip install highspy)")
    sys.exit(77)

SINEW = sys.argv[1]
NETWORKS = (("3x3x2", "random"), ("4x4x2", "disjoint"), ("mesh:4x4", "random"),
            ("fattree:2;4,4;1,2;1,2", "random"), ("dragonfly:3,4;4,3;5,1;2", "random"))


def rows(path):
    with open(path, encoding="utf-8") as file:
        return [[int(float(word)) if float(word).is_integer() else float(word) for word in row]
                for row in list(csv.reader(file))[1:]]


def least_busiest(jobs, links):
    """The optimum: flow of each source on each link, conserved at each node; T for each unit of a
    link's capacity is the least."""
    sources = sorted({job[0] for job in jobs if job[0] != job[1]})
    nodes = sorted({link[0] for link in links} | {link[1] for link in links})
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    infinite = solver.getInfinity()
    for _ in range(len(sources) * len(links) + 1):
        solver.addVar(0, infinite)
    busiest = len(sources) * len(links)
    solver.changeColCost(busiest, 1)

    def add(low, high, entries):
        places = numpy.array([place for place, _ in entries], dtype=numpy.int32)
        values = numpy.array([value for _, value in entries], dtype=numpy.double)
        solver.addRow(low, high, len(entries), places, values)

    for s, source in enumerate(sources):
        wanted = {}
        for job in jobs:
            if job[0] == source and job[1] != source:
                wanted[job[1]] = wanted.get(job[1], 0) + job[2] * 1e-6
        wanted[source] = -sum(wanted.values())
        for node in nodes:
            entries = [(s * len(links) + i, 1 if link[1] == node else -1)
                       for i, link in enumerate(links) if node in link[:2]]
            add(wanted.get(node, 0), wanted.get(node, 0), entries)
    for i, link in enumerate(links):
        add(-infinite, 0, [(s * len(links) + i, 1) for s in range(len(sources))]
            + [(busiest, -link[2])])
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal, solver.getModelStatus()
    return solver.getInfo().objective_function_value * 1e6


def check(network, pattern, folder):
    plan, jobs, loads = (os.path.join(folder, name) for name in ("plan.json", "jobs", "loads"))
    best = None
    for method, words in (("sinew", ["--gap", "0.1"]), ("default", []), ("opt", [])):
        subprocess.run([SINEW, "route", "plan", "-t", network, "-p", pattern, "-m", method, "-o",
                        plan, "--jobs", jobs, "--loads", loads, *words], check=True, timeout=60,
                       capture_output=True)
        with open(plan, encoding="utf-8") as file:
            told = json.load(file)
        best = best or least_busiest(rows(jobs), rows(loads))  # the same jobs for all methods
        print(f"{network} {pattern} {method}: bound {told['bound']:.6g}, optimum {best:.6g}, "
              f"plan {told['busiest']:.6g} bytes")
        assert told["bound"] <= best * (1 + 1e-6), "the certificate proves too much"
        assert best <= told["busiest"] * (1 + 1e-6), "a plan better than the optimum"
        if method == "sinew":
            assert told["busiest"] <= best * 1.01, "a plan far from the optimum"


with tempfile.TemporaryDirectory() as place:
    for net, kind in NETWORKS:
        check(net, kind, place)
