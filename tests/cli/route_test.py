# SPDX-License-Identifier: BSD-3-Clause
"""sinew route: every action, its files, and wrong input."""

import csv
import io
import json
import os
import re
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import PROBE, SINEW, run  # noqa: E402


def route(*words):
    return run(SINEW, "route", *words)


class Route(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        return path

    def good(self, *words):
        result = route(*words)
        self.assertEqual((result.code, result.err), (0, ""), words)
        return result.out

    def refused(self, sentence, *words):
        result = route(*words)
        self.assertNotEqual(result.code, 0, words)
        self.assertIn(sentence, result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result.err)
        return result

    def test_compare_has_all_methods_and_the_bound(self):
        out = self.good("compare", "--topology", "4x4x4x8x2", "--pattern", "disjoint",
                        "--bytes", "8M")
        for name in ("default", "adaptive", "heu-load", "heu-chunk", "opt", "sinew"):
            self.assertRegex(out, rf"(?m)^\s*{name}\b")
        self.assertIn("no plan has less than 16.8 MB on its busiest link", out)
        default = re.search(r"(?m)^\s*default\b.*$", out).group(0)
        self.assertRegex(default, r"\b134\b")  # the published busiest link, in true MB

    def test_plan_show_and_pictures(self):
        plan, picture = self.path("plan.json"), self.path("loads.svg")
        self.good("plan", "-t", "4x4x2", "-p", "random", "-b", "1M", "-o", plan)
        with open(plan, encoding="utf-8") as text:
            document = json.load(text)
        for job in document["jobs"]:
            self.assertEqual(sum(path[0] for path in job["paths"]), 1 << 20)
        self.assertIn("sinew", self.good("show", plan, "-o", picture))
        self.assertEqual(xml.dom.minidom.parse(picture).documentElement.tagName, "svg")

    def words(self, picture):
        """Texts of a picture; it must have text alternatives."""
        svg = xml.dom.minidom.parse(picture).documentElement
        self.assertEqual(svg.getAttribute("role"), "img")
        for tag in ("title", "desc"):
            self.assertTrue(svg.getElementsByTagName(tag)[0].firstChild.data)
        return [text.firstChild.data for text in svg.getElementsByTagName("text")]

    def test_a_torus_is_drawn_by_dimensions_beside_its_default_routes(self):
        plan, picture = self.path("plan.json"), self.path("loads.svg")
        self.good("plan", "-t", "4x4x2", "-p", "disjoint", "-b", "1M", "-o", plan)
        loads = self.path("counters.csv", "from,to,bytes\n0,1,3000000\n")
        self.good("show", plan, "-o", picture, "--beside", loads)
        words = self.words(picture)
        for panel in ("A+", "A-", "B+", "B-", "C"):  # three times: default, counters, plan
            self.assertEqual(words.count(panel), 3, words)
        self.assertTrue(any(w.startswith("bound ") for w in words))
        self.assertTrue(any(w.startswith("default routes: busiest link ") for w in words))
        self.assertIn(loads + ": busiest link 3 MB", words)
        self.assertTrue(any("MB" in w for w in words))
        wrong = self.path("wrong.csv", "from,to,bytes\n0,31,1\n")
        self.refused("wrong.csv:2", "show", plan, "-o", picture, "--beside", wrong)
        self.refused("--beside has no effect", "show", plan, "--beside", loads)

    def test_a_fat_tree_is_drawn_by_levels(self):
        plan, picture = self.path("plan.json"), self.path("loads.svg")
        self.good("plan", "-t", "fattree:2;4,4;1,2;1,2", "-p", "random", "-o", plan)
        self.good("show", plan, "-o", picture)
        words = self.words(picture)
        for panel in ("level 0 to 1", "level 1 to 2", "level 2 to 1", "level 1 to 0"):
            self.assertIn(panel, words)

    def test_a_plan_around_a_failed_link_is_drawn_alone(self):
        plan, picture = self.path("plan.json"), self.path("loads.svg")
        net = self.path("ring.graphml")
        self.good("plan", "-t", "4x4", "-p", "halo", "--failed", "0-1", "--graphml", net)
        self.good("plan", "-t", net, "-p", "halo", "-m", "opt", "-o", plan)
        out = self.good("show", plan, "-o", picture)
        self.assertIn("default routes are not drawn", out)
        self.assertIn("no link, or failed", self.words(picture))

    def test_files_for_other_programs_come_back(self):
        names = {"--%s" % n: self.path(n) for n in ("jobs", "matrix", "loads", "splits")}
        names = {option: path + ".csv" for option, path in names.items()}
        names["--graphml"] = self.path("net.graphml")
        words = [word for pair in names.items() for word in pair]
        plan = self.path("plan.json")
        self.good("plan", "-t", "4x4x2", "-p", "random", "-b", "1M", "-o", plan, *words)
        written = {}
        for option, path in names.items():
            with open(path, encoding="utf-8") as text:
                written[option] = text.read()
            os.remove(path)
        self.good("show", plan, *words)
        for option, path in names.items():
            with open(path, encoding="utf-8") as text:
                self.assertEqual(text.read(), written[option], option)
        loads = list(csv.DictReader(io.StringIO(written["--loads"])))
        self.assertEqual(len(loads), 32 * 5)
        self.assertEqual({row["from"] for row in loads}, {str(n) for n in range(32)})
        splits = list(csv.DictReader(io.StringIO(written["--splits"])))
        sums = {}
        for row in splits:
            key = row["destination"], row["node"]
            sums[key] = sums.get(key, 0) + float(row["ratio"])
        for key, total in sums.items():
            self.assertAlmostEqual(total, 1, 9, key)
        again = self.rows(self.good("plan", "-t", names["--graphml"], "-p", names["--jobs"]))
        matrix = self.rows(self.good("plan", "-t", names["--graphml"], "-p", names["--matrix"]))
        for out in (again, matrix):  # the same network, the same jobs: the same plan
            self.assertEqual(list(out.values())[0]["busiest MB"],
                             list(self.rows(self.good("show", plan)).values())[0]["busiest MB"])

    def test_an_infiniband_fabric(self):
        listing = ('switchguid=0x9(9)\nSwitch\t4 "S-9"\t\t# "leaf" enhanced port 0 lid 9 '
                   'lmc 0\n')
        for n in (1, 2, 3):
            listing += '[%d]\t"H-%d"[1](%d) \t\t# "host%d" lid %d 4xHDR\n' % (n, n, n, n, n)
        for n in (1, 2, 3):
            listing += '\ncaguid=0x%d\nCa\t1 "H-%d"\t\t# "host%d"\n' % (n, n, n)
            listing += '[1](%d) \t"S-9"[%d]\t\t# lid %d lmc 0 "leaf" lid 9 4xHDR\n' % (n, n, n)
        fabric = self.path("fabric.txt", listing)
        jobs = self.path("jobs.csv", "source,destination,bytes\nhost1,host3,8M\nhost2,host3,8M\n")
        loads = self.path("loads.csv")
        out = self.rows(self.good("plan", "-t", fabric, "-p", jobs, "--loads", loads))
        self.assertEqual(list(out.values())[0]["busiest MB"], "16.8")
        with open(loads, encoding="utf-8") as text:
            self.assertIn("leaf,host3,1,16777216\n", text.read())
        wrong = self.path("wrong.csv", "source,destination,bytes\nhost1,host7,1\n")
        self.refused("wrong.csv:2", "plan", "-t", fabric, "-p", wrong)
        self.refused("leaf", "plan", "-t", fabric, "-p",
                     self.path("leaf.csv", "source,destination,bytes\nhost1,leaf,1\n"))

    def test_plans_repeat_for_a_seed(self):
        for name in ("a.json", "b.json"):
            self.good("plan", "-t", "4x4", "-p", "alltoallv", "--seed", "7", "-o", self.path(name))
        texts = []
        for name in ("a.json", "b.json"):
            with open(self.path(name), encoding="utf-8") as text:
                texts.append(re.sub(r'"seconds":[^,]*', "", text.read()))
        self.assertEqual(texts[0], texts[1])

    def test_simulate_and_the_curve_of_chunks(self):
        picture = self.path("chunks.svg")
        for more in ([], ["--fluid"], ["--round-robin", "--every-hop", "--buffers", "2"]):
            out = self.good("simulate", "-t", "4x4x2", "-p", "halo", "-b", "256k", *more)
            self.assertIn("default", out)
        out = self.good("simulate", "-t", "4x4x2", "-p", "random", "-b", "1M", "--chunks",
                        "8k,64k,1M", "-o", picture)
        self.assertGreaterEqual(len(out.splitlines()), 7)
        self.assertEqual(len(xml.dom.minidom.parse(picture).getElementsByTagName("polyline")), 2)

    def test_throughput_by_nodes(self):
        picture = self.path("nodes.svg")
        out = self.good("compare", "--nodes", "512,1024", "-m", "default,sinew", "-o", picture)
        self.assertEqual(len(re.findall(r"(?m)\bsinew\b", out)), 2)
        self.assertEqual(len(xml.dom.minidom.parse(picture).getElementsByTagName("polyline")), 2)

    def rows(self, out):
        """The lines of a table by their method, columns by their heads."""
        lines = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
        head = next(line for line in lines if "gap %" in line)
        at = head.index("method")
        return {line[at]: dict(zip(head, line)) for line in lines
                if len(line) == len(head) and line != head}

    def test_options_without_effect_are_refused(self):
        jobs = self.path("jobs.txt", "0 1 64k\n")
        picture = self.path("x.svg")
        for option, words in (
                ("--output", ["compare", "-o", picture]),
                ("--method", ["plan", "-m", "default,opt"]),
                ("--nodes", ["plan", "--nodes", "512"]),
                ("--nodes", ["simulate", "--nodes", "512"]),
                ("--topology", ["compare", "--nodes", "512", "-t", "4x4"]),
                ("--max-paths", ["plan", "--max-paths", "17"]),
                ("--max-paths", ["plan", "--max-paths", "4", "-m", "opt"]),
                ("--gap", ["compare", "--gap", "4", "-m", "opt,default"]),
                ("--chunks", ["plan", "--chunks", "8k"]),
                ("--chunk", ["plan", "--chunk", "0"]),
                ("--buffers", ["simulate", "--fluid", "--buffers", "3"]),
                ("--fluid", ["compare", "--fluid"]),
                ("--group", ["plan", "--group", "4", "-p", "random"]),
                ("--loads", ["compare", "--loads", picture]),
                ("--splits", ["simulate", "--splits", picture]),
                ("--bytes", ["plan", "-t", "4x4", "-p", jobs, "-b", "4"]),
                ("--pattern", ["show", "plan.json", "-p", "random"])):
            self.assertEqual(self.refused(option, *words).code, 2, words)
        self.assertFalse(os.path.exists(picture))

    def test_one_plan_has_one_gap(self):
        alone = self.rows(self.good("compare", "-t", "mira:512", "-p", "overlap", "-m", "default"))
        sizes = self.rows(self.good("compare", "--nodes", "512", "-p", "overlap"))
        among = self.rows(self.good("compare", "-t", "mira:512", "-p", "overlap"))
        plan = self.rows(self.good("plan", "-t", "mira:512", "-p", "overlap", "-m", "default"))
        for one in (alone, sizes, plan):
            self.assertEqual(one["default"]["gap %"], among["default"]["gap %"])
        # "sinew (opt)" where it takes another method's plan.
        def gap(rows):
            return next(row["gap %"] for name, row in rows.items() if name.startswith("sinew"))
        self.assertEqual(gap(sizes), gap(among))

    def speed(self, *words):
        out = self.rows(self.good("plan", "-p", "halo", "-b", "8M", "-m", "default", *words))
        return float(out["default"]["MB/s"])

    def test_speeds_of_options_and_of_platforms(self):
        # A halo on 16 nodes with 4 links each: 64 links, all busy at once.
        self.assertAlmostEqual(self.speed("-t", "4x4", "--link-bandwidth", "1GBps"), 64e3, delta=64)
        slow = self.speed("-t", "4x4", "--injection-bandwidth", "1e9")
        self.assertAlmostEqual(slow, 16e3, delta=16)
        late = self.speed("-t", "4x4", "--link-bandwidth", "1GBps", "--latency", "8.388608ms")
        self.assertAlmostEqual(late, 32e3, delta=32)
        cluster = ('<platform version="4.1"><cluster id="c" radical="0-15" speed="1Gf" %s '
                   'topology="TORUS" topo_parameters="4,4"/></platform>')
        fast = self.path("fast.xml", cluster % 'bw="10GBps" lat="1us"')
        lame = self.path("lame.xml", cluster % 'bw="1Gbps" lat="1us"')
        self.assertAlmostEqual(self.speed("-t", fast), 640e3, delta=6400)
        self.assertAlmostEqual(self.speed("-t", lame), 8e3, delta=8)
        self.assertAlmostEqual(self.speed("-t", lame, "--link-bandwidth", "1GBps"), 64e3, delta=64)
        plan = self.path("plan.json")
        self.good("plan", "-t", lame, "-p", "halo", "-m", "default", "-o", plan)
        shown = self.rows(self.good("show", plan))
        self.assertAlmostEqual(float(shown["default"]["MB/s"]), 8e3, delta=8)
        self.refused("bw=\"quick\"", "plan", "-t", self.path("no.xml", cluster % 'bw="quick"'))
        for option in ("--link-bandwidth", "--injection-bandwidth", "--latency"):
            self.assertEqual(self.refused(option, "plan", option, "none").code, 2)

    def test_hints_of_mpi_that_cannot_be_followed_are_reported_once(self):
        program = os.path.join(os.path.dirname(PROBE), "mpi_routes")
        if not os.path.exists(program):
            self.skipTest("mpi_routes was not built")
        result = run(SINEW, "run", "-n", "4", program)
        self.assertEqual(result.code, 0, result.err)
        for wrong, why in (("no such network", "unknown shape"), ("17x3", "51 endpoints")):
            lines = [line for line in result.err.splitlines() if '"%s"' % wrong in line]
            self.assertEqual(len(lines), 1, result.err)
            self.assertIn(why, lines[0])

    def test_files_and_failed_links(self):
        net = self.path("ring.txt", "0 1\n1 2\n2 3\n3 0\n")
        jobs = self.path("jobs.txt", "0 1 64k\n# and\n2 0 1M\n")
        self.good("compare", "-t", net, "-p", jobs)
        plan = self.path("plan.json")
        self.good("plan", "-t", net, "-p", jobs, "--failed", "0-1,1-0", "-o", plan)
        with open(plan, encoding="utf-8") as text:
            for job in json.load(text)["jobs"]:
                for path in job["paths"]:
                    nodes = [job["from"], *path[1:]]  # path[0] is its bytes
                    self.assertNotIn((0, 1), list(zip(nodes, nodes[1:])))
        self.refused("no path from node 0 to node 1", "plan", "-t", net, "-p", jobs, "--failed",
                     "0-1,0-3")

    def test_gap(self):
        self.good("plan", "-t", "4x4x4", "-p", "random", "--gap", "5")
        self.assertEqual(self.refused("--gap needs percent", "plan", "--gap", "much").code, 2)

    def test_wrong_words(self):
        for sentence, words in (
                ("what?", []),
                ("did you mean plan?", ["plam"]),
                ("unknown option", ["plan", "--topolgy", "4x4"]),
                ("show needs one plan's file", ["show"]),
                ("takes no word", ["plan", "now"]),
                ("methods are", ["compare", "-m", "best"]),
                ("--bytes needs a number of bytes", ["plan", "--bytes", "many"]),
                ("--max-paths", ["plan", "--max-paths", "none"]),
                ("--failed", ["plan", "--failed", "0:1"])):
            self.refused(sentence, *words)

    def test_wrong_networks_and_patterns(self):
        broken = self.path("broken.json", '{"nodes":2,\n"links":[[0,1],[0,7]]}')
        lines = self.path("lines.txt", "0 1\n0 zwei\n")
        jobs = self.path("jobs.txt", "0 1 64k\n0 1\n")
        self.refused("4xx4", "plan", "-t", "4xx4")
        self.refused("broken.json:2", "plan", "-t", broken)
        self.refused("lines.txt:2", "plan", "-t", lines)
        self.refused("jobs.txt:2", "plan", "-t", "4x4", "-p", jobs)
        self.refused("nowhere", "plan", "-t", "4x4", "-p", "nowhere")
        self.refused("too large", "plan", "-t", "9999x9999x9")

    def test_wrong_plans(self):
        self.refused("cannot read", "show", self.path("none.json"))
        self.refused("plan.json:1", "show", self.path("plan.json", "{"))
        plan = self.path("good.json")
        self.good("plan", "-t", "4x4", "-p", "halo", "-o", plan)
        with open(plan, encoding="utf-8") as text:
            document = text.read()
        other = re.sub(r'"network":"[^"]*"', '"network":"mesh:4x4"', document)
        self.refused("another network", "show", self.path("other.json", other))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
