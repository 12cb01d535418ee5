# SPDX-License-Identifier: BSD-3-Clause
"""Every setting of every module: it is listed, says what it takes, and refuses the rest."""

import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import SINEW, run  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DECLARATION = re.compile(r'\bsetting<([^>]+)>\s+\w+\s*[({]\s*"(\w+)",\s*"(\w+)"')
UNITS = {"": 0, "k": 10, "M": 20, "G": 30, "T": 40}
LARGEST = 2**63 - 1


def rows(env=None):
    result = run(SINEW, "info", "config", "--json", env=env)
    assert result.code == 0, result.err
    return json.loads(result.out)["config"]


def number(text):
    if re.fullmatch(r"-?\d+[kMGT]?", text):
        digits, letter = re.fullmatch(r"(-?\d+)([kMGT]?)", text).groups()
        return int(digits) << UNITS[letter]
    return float(text)


def limits(accepts):
    """(whether 0 is taken besides, least, most), or None where the row is no number."""
    found = re.fullmatch(r"(0, or )?(\S+) to (\S+)", accepts)
    return found and (bool(found[1]), number(found[2]), number(found[3]))


def outside(row):
    """Texts that this row must refuse."""
    accepts = row["accepts"]
    if accepts == "any text":
        return []
    if accepts == "on or off" or accepts.startswith("one of "):
        return ["", "2", "-1", "nonsense", "on off"]
    if accepts.startswith("one or several of "):
        return ["2", "-1", "nonsense", "on off", names_of(row)[0] + ",nonsense",
                names_of(row)[0] + ","]
    zero, least, most = limits(accepts)
    texts = ["", "nan", "-nan", "inf", "-inf", "-5", "-1", "1e999", "0x10", "nonsense", "1 2",
             str(-LARGEST - 1), str(LARGEST), str(LARGEST + 1), str(most + 1)]
    if least > 0:
        texts.append(str(least - 1))
    if least > 1 and zero:
        texts.append("1")
    return [t for t in dict.fromkeys(texts) if not (zero and t == "0")]


def names_of(row):
    """Those that a row takes of which it takes one, or several."""
    found = re.fullmatch(r"one (or several )?of (.*?)(, separated by commas)?", row["accepts"])
    return found[2].split() if found else []


def inside(row):
    found = limits(row["accepts"])
    texts = [row["default"]]
    if found:
        zero, least, most = found
        texts += [str(least), str(most)] + (["0"] if zero else [])
    texts += names_of(row)
    if row["accepts"].startswith("one or several of "):
        texts.append(",".join(names_of(row)))
    return texts


class Settings(unittest.TestCase):
    def test_every_setting_in_the_sources_is_listed(self):
        listed = {row["name"] for row in rows()}
        declared = set()
        for folder in ("src", "abi", "tools"):
            for path in (ROOT / folder).rglob("*.[ch]pp"):
                for _, module, key in DECLARATION.findall(path.read_text()):
                    declared.add(f"SINEW_{module}_{key}".upper())
        # One for each collective, by a template.
        table = (ROOT / "src/coll/algorithms.cpp").read_text()
        declared |= {f"SINEW_COLL_{name}".upper()
                     for name in re.findall(r"&chosen<kind::(\w+)>", table)}
        self.assertGreater(len(declared), 30)
        self.assertEqual(declared, listed)

    def test_every_row_refuses_what_is_outside(self):
        for row in rows():
            for text in outside(row):
                result = run(SINEW, "info", "config", env={row["name"]: text})
                with self.subTest(row["name"], text=text):
                    self.assertEqual((result.code, result.out), (1, ""))
                    self.assertEqual(len(result.err.splitlines()), 1, result.err)
                    for part in (row["name"], f'"{text}"', row["accepts"], row["default"]):
                        self.assertIn(part, result.err)

    def test_every_row_takes_what_is_inside(self):
        for row in rows():
            for text in inside(row):
                now = {r["name"]: r for r in rows({row["name"]: text})}[row["name"]]
                with self.subTest(row["name"], text=text):
                    self.assertEqual(now["origin"], "environment")
                    if limits(row["accepts"]):
                        self.assertEqual(number(now["value"]), number(text))
                    else:
                        self.assertEqual(now["value"], text)


class Programs(unittest.TestCase):
    """What a program of ours says to settings in its environment."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        compiler = os.path.join(os.path.dirname(SINEW), "mpicc.sinew")
        if not os.path.exists(compiler):
            raise unittest.SkipTest("this tree has no MPI")
        cls.hello = os.path.join(folder.name, "hello")
        built = run(compiler, str(ROOT / "tests/install/consumer/hello.c"), "-o", cls.hello)
        assert built.code == 0, built.err

    def test_settings_of_other_modules_are_no_mistakes(self):
        everything = {row["name"]: row["default"] for row in rows()}
        everything["SINEW_CC"] = "cc"
        result = run(SINEW, "run", "-n", "2", self.hello, env=everything)
        self.assertEqual((result.code, result.err), (0, ""))

    def test_a_name_that_is_none_is_told_once_a_job(self):
        """By whichever rank has it: -x is for one program."""
        for words in (["-n", "4", self.hello], ["-n", "2", self.hello, ":", "-n", "2", self.hello]):
            result = run(SINEW, "run", *words, env={"SINEW_COLL_FANN": "3"})
            self.assertEqual((result.code, result.err), (
                0, "sinew run: SINEW_COLL_FANN is no setting of Sinew; did you mean "
                "SINEW_COLL_FAN?\n"))
        result = run(SINEW, "run", "-n", "1", self.hello, ":", "-n", "3", "-x", "SINEW_COLL_FUN=3",
                     self.hello)
        self.assertEqual(result.err.count("SINEW_COLL_FUN is no setting"), 1, result.err)
        result = run(SINEW, "run", "-n", "4", self.hello,
                     env={"SINEW_COLL_FANN": "3", "SINEW_BASE_LOG": "error"})
        self.assertEqual((result.code, result.err), (0, ""))
        result = run(self.hello, env={"SINEW_COLL_FANN": "3"})
        self.assertEqual(result.err.count("SINEW_COLL_FANN is no setting"), 1, result.err)

    def test_a_name_that_is_none_is_told_where_nothing_starts(self):
        """It may be why."""
        result = run(SINEW, "run", "-n", "2", self.hello,
                     env={"SINEW_NET_INTERFACEZ": "eth0", "SINEW_NET_INTERFACES": "of_nobody",
                          "SINEW_FABRIC_NODES": "2"})
        self.assertNotEqual(result.code, 0)
        self.assertIn("SINEW_NET_INTERFACEZ is no setting of Sinew", result.err)

    def test_a_job_introduces_itself_once(self):
        library = os.path.realpath(os.path.join(os.path.dirname(SINEW), "..", "lib"))
        for env, where in (({}, "1 node: "), ({"SINEW_FABRIC_NODES": "2"}, "2 nodes: ")):
            result = run(SINEW, "run", "-n", "4", self.hello, env=env | {"SINEW_BASE_LOG": "info"})
            self.assertEqual(result.code, 0, result.err)
            self.assertRegex(result.err, r"^sinew: info: Sinew \d\S+ from \S+/libmpi_abi.so\S*; "
                             "4 ranks on " + where + r"[^\n]*; transports: shared memory[^\n]*; "
                             r"rank 0 may use [^\n]* processors.\n$")
            self.assertIn(library, os.path.realpath(re.search(r" from (\S+);", result.err)[1]))

    def test_a_job_with_a_value_outside_ends_with_the_sentence(self):
        for name, text in (("SINEW_COLL_FAN", "1"), ("SINEW_COLL_FAN", str(LARGEST)),
                           ("SINEW_CORE_SPIN_US", "-1"), ("SINEW_CORE_HANG_TIMEOUT", "nan")):
            result = run(SINEW, "run", "-n", "5", "--timeout", "60", self.hello, env={name: text})
            with self.subTest(name, text=text):
                self.assertNotIn(result.code, (0, 124))
                self.assertIn(f'{name} cannot be "{text}"', result.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
