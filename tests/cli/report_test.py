# SPDX-License-Identifier: BSD-3-Clause
"""`sinew report` and `sinew bench compare` on a file made here: the page's structure, its text for
screen readers, that it needs no network."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from html.parser import HTMLParser

from support import SINEW
from support import run as run_program

VOID = {"meta", "link", "br", "img", "input", "hr"}


def run(*words):
    return run_program(SINEW, *words)


def result(subject, params, value, experiment="latency", case="one-way", **more):
    samples = {"start": [s // 5 for s in range(50)],
               "value": [value * (1 + 0.01 * (s % 7 - 3)) for s in range(50)],
               "line_ns": [28 + s % 3 for s in range(50)]}
    return {"experiment": experiment, "case": case, "params": params, "subject": subject,
            "metric": "latency", "unit": "ns", "n": 50, "median": value, "mad": 1, "min": 1,
            "max": 2, "samples": samples, **more}


def document(factor=1.0):
    rows = []
    for size in (8, 512, 4096):
        rows.append(result("sinew", {"bytes": size}, factor * (100 + size / 10)))
        rows.append(result("mpich", {"bytes": size}, 300 + size / 10))
        paper = result("paper", {"series": "fult", "bytes": size}, 1400)
        del paper["samples"]
        rows.append(paper)
    rows.append(result("sinew", {"bytes": 65536}, 9000.0))
    rows.append(result("mpich", {"bytes": 65536}, 4000.0))
    return {"schema": 2, "host": {"cpu": "a <processor>", "peers": {"mpich": "4"}},
            "run": {"commit": "c0ffee", "commands": [{"words": ["mpiexec", "-n", "2"],
                                                       "environment": {"A": "b"}}]},
            "results": rows}


class Page(HTMLParser):
    """Checks that elements close in order, and collects them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.ids, self.words = [], [], [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [v for n, v in attrs if n == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        self.words.append(data)

    def tags(self, name):
        return [attrs for tag, attrs in self.seen if tag == name]


class Report(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name
        self.file = self.write("a.json", document())

    def write(self, name, what):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(what, file)
        return path

    def page(self):
        done = run("report", self.file, "-o", os.path.join(self.folder, "page"))
        self.assertEqual(done.code, 0, done.err)
        with open(os.path.join(self.folder, "page", "index.html"), encoding="utf-8") as file:
            return file.read()

    def test_the_page_has_its_parts(self):
        text = self.page()
        page = Page(text)
        self.assertEqual(len(page.ids), len(set(page.ids)), "an id twice")
        for part in ("summary", "worse", "method", "missing", "latency-one-thread"):
            self.assertIn(part, page.ids)
        said = "".join(page.words)
        for sentence in ("Sinew is better in 3, worse in 1", "sinew bench latency --full",
                         "while a cache line took 29.0 ns", "mpiexec -n 2", "c0ffee",
                         "a <processor>", "(fult)"):
            self.assertIn(sentence, said)

    def test_who_is_faster_than_the_floor_is_named(self):
        rows = document()
        rows["results"] += [
            result("floor", {"kind": "pair"}, 90, case="line"),
            result("floor", {"bytes": 512, "way": "kernel"}, 200, case="transfer")]
        self.write("a.json", rows)
        said = self.page()
        self.assertIn("<td>200 (faster: Sinew)</td>", said)
        self.assertIn("<td>90.0</td>", said)

    def test_a_screen_reader_can_read_it(self):
        page = Page(self.page())
        self.assertEqual(page.tags("html")[0]["lang"], "en")
        self.assertIn("width=device-width", str(page.tags("meta")))
        pictures = page.tags("svg")
        self.assertGreater(len(pictures), 0)
        for picture in pictures:
            self.assertEqual(picture["role"], "img")
            for name in picture["aria-labelledby"].split():
                self.assertIn(name, page.ids)
        self.assertEqual(len(page.tags("figure")), len(page.tags("figcaption")))
        self.assertEqual(len(page.tags("table")), len(page.tags("caption")))
        self.assertTrue(all("scope" in th for th in page.tags("th")))

    def test_hosts_have_figures_of_their_own(self):
        def events(value, **params):
            return [result("sinew", {"depth": 1024, "ranks": ranks, **params}, ranks * value,
                           "events", "chain") for ranks in (1, 2)]
        far = {**document(), "results": events(30000, over="hosts")}
        far["run"] = {**far["run"], "hosts": "h1:1,h2:1, by tcp"}
        files = (self.write("near.json", {**document(), "results": events(70)}),
                 self.write("far.json", far))
        done = run("report", *files, "-o", os.path.join(self.folder, "page"))
        self.assertEqual((done.code, done.err), (0, ""))
        with open(os.path.join(self.folder, "page", "index.html"), encoding="utf-8") as file:
            text = file.read()
        captions = dict(re.findall(r'<figure id="(event-latency[a-z-]*)">.*?<figcaption>(.*?)<',
                                   text, re.DOTALL))
        self.assertIn("Measured over hosts: h1:1,h2:1, by tcp.", captions["event-latency-hosts"])
        self.assertNotIn("Measured over hosts", captions["event-latency"])

    def test_the_page_needs_nothing_else(self):
        page = Page(self.page())
        for tag, attrs in page.seen:
            self.assertNotIn(tag, ("script", "link", "img", "iframe"))
            for name in ("src", "href"):
                self.assertNotIn(name, attrs)
        self.assertNotIn("url(http", "".join(page.words))

    def test_of_several_of_ours_the_default_is_compared(self):
        params = {"queue": "posted", "wildcard": "none", "cache": "warm", "bytes": 8,
                  "collisions": 0}
        rows = [result(subject, {**params, "depth": depth}, value, "matching", "latency")
                for subject, value in (("sinew:bins1021", 900), ("sinew:hash", 100),
                                       ("openmpi-ucx", 300))
                for depth in (1, 64)]
        self.file = self.write("m.json", {**document(), "results": rows})
        said = "".join(Page(self.page()).words)
        self.assertIn("Sinew is better in 2, worse in 0", said)
        self.assertIn("sinew:bins1021", said)

    def test_lines_of_several_of_ours_are_told_apart(self):
        rows = [result(subject, {"queue": "posted", "wildcard": "none", "cache": "warm",
                                 "bytes": size, "depth": 1024, "collisions": percent},
                       100 + percent, "matching", "bandwidth", metric="bandwidth", unit="MB/s")
                for subject in ("sinew:hash", "sinew:bins1021")
                for percent in (0, 100) for size in (8, 4096)]
        self.file = self.write("m.json", {**document(), "results": rows})
        done = run("report", self.file, "--figure", "matching-2b")
        self.assertEqual(done.code, 0, done.err)
        looks = {(line.get("stroke"), line.get("stroke-dasharray"))
                 for line in xml.etree.ElementTree.fromstring(done.out).iter()
                 if line.tag.endswith("polyline")}
        self.assertEqual(4, len(looks), looks)

    def test_pictures_are_sound_xml(self):
        self.page()
        pictures = [n for n in os.listdir(os.path.join(self.folder, "page")) if n.endswith(".svg")]
        self.assertIn("latency-one-thread.svg", pictures)
        for name in pictures:
            xml.etree.ElementTree.parse(os.path.join(self.folder, "page", name))

    def test_each_picture_is_a_pdf_too(self):
        """What is drawn can be read as text."""
        if not shutil.which("rsvg-convert"):
            self.skipTest("no rsvg-convert")
        self.page()
        folder = os.path.join(self.folder, "page")
        names = {n[:-4] for n in os.listdir(folder) if n.endswith(".svg")}
        self.assertEqual(names, {n[:-4] for n in os.listdir(folder) if n.endswith(".pdf")})
        path = os.path.join(folder, "latency-one-thread.pdf")
        with open(path, "rb") as file:
            self.assertTrue(file.read().startswith(b"%PDF-"))
        if shutil.which("pdftotext"):
            said = subprocess.run(["pdftotext", path, "-"], check=True, capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(said.stderr, "")
            self.assertIn("Message size (byte)", said.stdout)

    def report_with(self, converter):
        """Of this program in place of rsvg-convert, or of none."""
        place = os.path.join(self.folder, "bin")
        os.mkdir(place)
        if converter:
            path = os.path.join(place, "rsvg-convert")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + converter)
            os.chmod(path, 0o755)
        return run_program(SINEW, "report", self.file, "-o", os.path.join(self.folder, "page"),
                           env={"PATH": place})

    def test_without_a_converter_there_is_no_pdf(self):
        done = self.report_with(None)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertIn("no PDF: rsvg-convert is not in PATH (install librsvg2-bin)", done.out)
        self.assertNotIn(".pdf", str(os.listdir(os.path.join(self.folder, "page"))))

    def test_a_converter_that_fails_is_quoted(self):
        done = self.report_with("echo no memory >&2; exit 3")
        self.assertEqual(done.code, 1)
        self.assertIn("latency-one-thread.pdf", done.err)
        self.assertIn("no memory", done.err)

    def test_one_can_point_at_a_value(self):
        done = run("report", self.file, "--figure", "latency-one-thread")
        values = [e.text for e in xml.etree.ElementTree.fromstring(done.out).iter()
                  if e.tag.endswith("path") for e in e if e.tag.endswith("title")]
        self.assertIn("paper: fult at 8: 1.40", values)
        self.assertRegex("\n".join(values), r"(?m)^Sinew at 8: 0\.10\d* \(0\.1\d*-0\.1\d*\)$")

    def test_one_figure_alone(self):
        done = run("report", self.file, "--figure", "latency-one-thread")
        self.assertEqual(done.code, 0, done.err)
        self.assertTrue(done.out.startswith("<svg"), done.out[:80])
        self.assertEqual(run("report", self.file, "--figure", "none").code, 1)

    def test_what_is_wrong_is_said(self):
        self.assertEqual(run("report").code, 2)
        self.assertEqual(run("report", self.file).code, 2)
        for name, text in (("empty", ""), ("other", '{"schema":9,"host":{},"results":[]}')):
            path = os.path.join(self.folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = run("report", path, "-o", self.folder)
            self.assertEqual(done.code, 1)
            self.assertIn(name, done.err)

    def test_compare(self):
        slower = self.write("b.json", document(factor=1.3))
        same = run("bench", "compare", self.file, self.file)
        self.assertEqual(same.code, 0, same.err)
        self.assertIn("0 better, 0 worse", same.out)
        done = run("bench", "compare", self.file, slower)
        self.assertIn("0 better, 3 worse", done.out)
        self.assertIn("1.30x", done.out)
        self.assertEqual(run("bench", "compare", self.file).code, 2)


class Measuring(unittest.TestCase):
    """Short real measurements: that they end and carry what they should, not how fast they are."""

    def setUp(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor only: there is no trip of a cache line")

    def test_floors_of_messages(self):
        done = run("bench", "--floor-probe", "transfer", "stream", "sizes=8,4096,65536")
        self.assertEqual(done.code, 0, done.err)
        seen = set()
        for line in done.out.splitlines():
            mark, case, _, _, params, value, trip = line.split()
            self.assertEqual(mark, "@")
            self.assertGreater(float(value), 0)
            self.assertGreater(float(trip.removeprefix("line=")), 0)
            seen.add((case, params))
        for place in (("transfer", "bytes=4096,way=pieces-4k"), ("stream", "bytes=8,way=pieces-1k"),
                      ("stream", "bytes=65536,way=pieces-32k")):
            self.assertIn(place, seen)
        self.assertNotIn("bytes=8,", str([p for c, p in seen if c == "transfer"]))

    def test_samples_carry_the_trip_of_a_line(self):
        if not os.path.exists(os.path.join(os.path.dirname(SINEW), "mpicc.sinew")):
            self.skipTest("this tree has no MPI")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rate.json")
            done = run("bench", "rate", "--quick", "--repeat", "2", "--peers", "none",
                       "--json", path)
            self.assertEqual(done.code, 0, done.err)
            with open(path, encoding="utf-8") as file:
                all_of_it = json.load(file)
        self.assertEqual(all_of_it["schema"], 2)
        for fact in ("governor", "hypervisor", "pinned_to"):
            self.assertIn(fact, all_of_it["host"])
        for fact in ("options", "commit", "compiler", "flags", "commands"):
            self.assertTrue(all_of_it["run"][fact], fact)
        ours = next(r for r in all_of_it["results"] if r["subject"] == "sinew")
        samples = ours["samples"]
        self.assertEqual(len(samples["value"]), ours["n"])
        self.assertEqual(set(samples["start"]), {0, 1})
        self.assertTrue(all(trip > 0 for trip in samples["line_ns"]))

    def test_two_ranks_of_events_carry_it_too(self):
        folder = os.path.join(os.path.dirname(SINEW), "..", "libexec", "sinew")
        for name, words in (("events", ["depth=64"]), ("event-throughput", ["fan=2"]),
                            ("locks", ["locks=4", "chains=4", "depth=16"]),
                            ("reductions", ["case=sparse", "tasks=1", "method=list"])):
            for ranks in (1, 2):
                with self.subTest(name, ranks=ranks):
                    done = run_program(os.path.join(folder, "bench-" + name), *words,
                                       f"ranks={ranks}", "budget_ms=1")
                    self.assertEqual(done.code, 0, done.err)
                    rows = [line.split() for line in done.out.splitlines()]
                    self.assertTrue(rows)
                    for row in rows:
                        self.assertEqual(len(row), 5 + ranks, row)
                        self.assertTrue(ranks == 1 or float(row[6].removeprefix("line=")) > 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
