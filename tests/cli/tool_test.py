# SPDX-License-Identifier: BSD-3-Clause
"""sinew's own commands: help, man page, completion, info."""

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import SINEW, run  # noqa: E402


def completed_by_zsh(folder, typed):
    """What zsh shows after `typed` and the tab key, with a function _sinew in `folder`."""
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs,
                             start_new_session=True,
                             env={"PATH": os.environ["PATH"], "TERM": "dumb", "COLUMNS": "200"})
    os.close(theirs)
    shown = b""

    def until(mark, limit):
        nonlocal shown
        end = time.monotonic() + limit
        while mark not in shown and time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                shown += os.read(ours, 65536)

    try:
        os.write(ours, f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D; "
                       "PS1=; echo rea''dy\n".encode())
        until(b"ready", 60)
        shown = b""
        os.write(ours, typed.encode() + b"\t")
        os.write(ours, b"\x01echo \x05 ; echo do''ne\n")  # to the line's begin, and to its end
        until(b"\ndone", 60)
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)
    return shown.decode(errors="replace")


class Tool(unittest.TestCase):
    def test_no_command(self):
        result = run(SINEW)
        self.assertEqual(result.code, 2)
        self.assertIn("usage: sinew", result.err)

    def test_unknown_command(self):
        result = run(SINEW, "rnu")
        self.assertEqual((result.code, result.err),
                         (2, "sinew: unknown command rnu; did you mean run?\n"))

    def test_help(self):
        self.assertIn("run", run(SINEW, "help").out)
        self.assertEqual(run(SINEW, "help", "run").out, run(SINEW, "run", "--help").out)
        for option in ("--ranks", "--label", "--timeout", "--bind-to"):
            self.assertIn(option, run(SINEW, "help", "run").out)
        for line in run(SINEW, "help", "run").out.splitlines():
            self.assertLessEqual(len(line), 100)

    def commands(self):
        lines = run(SINEW, "help").out.splitlines()
        return [line.split()[0] for line in lines if line.startswith("  ")]

    def options(self, command):
        """Names of the options in the help of a command."""
        names = []
        for line in run(SINEW, "help", command).out.splitlines():
            if line.startswith("  -"):
                names += [w.strip(",").split("[")[0] for w in line.split("  ")[1].split()
                          if w.startswith("-")]
        return names

    def test_man_pages(self):
        page = run(SINEW, "help", "--man").out
        self.assertTrue(page.startswith('.TH "SINEW" 1'))
        for command in self.commands():
            self.assertIn(f"sinew\\-{command}", page)
            one = run(SINEW, "help", "--man", command).out
            self.assertTrue(one.startswith(f'.TH "SINEW-{command.upper()}" 1'))
            for option in self.options(command):
                self.assertIn(option.replace("-", "\\-"), one)
        self.assertEqual(run(SINEW, "help", "--man", "rnu").code, 2)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_man_pages_are_sound_roff(self):
        for words in ([], *([c] for c in self.commands())):
            page = run(SINEW, "help", "--man", *words).out
            shown = subprocess.run(["groff", "-ww", "-man", "-Tascii", "-P-cbou"], input=page,
                                   text=True, capture_output=True, timeout=100, check=False)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), words)
            self.assertIn("NAME", shown.stdout)

    def completed_by_bash(self, *words):
        script = run(SINEW, "help", "--completion", "bash").out
        check = script + ('\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sinew; '
                          'printf "%s\\n" "${COMPREPLY[@]}"')
        shell = subprocess.run(["bash", "-c", check, "bash", *words], capture_output=True,
                               text=True, timeout=100, check=False)
        self.assertEqual(shell.stderr, "")
        return shell.stdout.split()

    def test_completion_by_bash(self):
        for words, answer in ((("sinew", "run", "--time"), ["--timeout"]),
                              (("sinew", "ru"), ["run"]),
                              (("sinew", "info", "top"), ["topology"]),
                              (("sinew", "bench", "himen"), ["himeno"]),
                              (("sinew", "run", "--bind-to", "nu"), ["numa"]),
                              (("sinew", "run", "./no-such-program"), [])):
            with self.subTest(words):
                self.assertEqual(self.completed_by_bash(*words), answer)
        for command in self.commands():
            offered = self.completed_by_bash("sinew", command, "-")
            self.assertTrue(set(self.options(command)) <= set(offered), (command, offered))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_completion_by_zsh(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "_sinew"), "w", encoding="ascii") as file:
                file.write(run(SINEW, "help", "--completion", "zsh").out)
            for typed, answer in (("sinew run --timeo", "--timeout"), ("sinew inf", "sinew info"),
                                  ("sinew info topo", "topology"),
                                  ("sinew run --bind-to num", "--bind-to numa"),
                                  ("sinew bench himen", "himeno")):
                with self.subTest(typed):
                    self.assertIn(answer, completed_by_zsh(folder, typed))

    def test_pages_as_files(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(SINEW, "help", "--write", folder).code, 0)
            self.assertEqual(set(os.listdir(os.path.join(folder, "man", "man1"))),
                             {"sinew.1", *(f"sinew-{c}.1" for c in self.commands())})
            for place, words in (("man/man1/sinew-run.1", ("--man", "run")),
                                 ("bash-completion/completions/sinew", ("--completion", "bash")),
                                 ("zsh/site-functions/_sinew", ("--completion", "zsh"))):
                with open(os.path.join(folder, place), encoding="utf-8") as file:
                    self.assertEqual(file.read(), run(SINEW, "help", *words).out)
        refused = run(SINEW, "help", "--write", "/proc/none")
        self.assertEqual(refused.code, 1)
        self.assertIn("/proc/none", refused.err)

    def test_version(self):
        self.assertRegex(run(SINEW, "--version").out, r"^sinew \d+\.\d+\.\d+\n$")

    def test_info(self):
        for page in ("config", "transports", "topology", "deps", "collectives"):
            result = run(SINEW, "info", page)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertGreater(len(result.out.splitlines()), 1)
            self.assertIn(page, json.loads(run(SINEW, "info", page, "--json").out))
        everything = json.loads(run(SINEW, "info", "--json").out)
        self.assertEqual(sorted(everything),
                         ["collectives", "config", "deps", "topology", "transports"])

    def test_info_topology_as_a_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.svg")
            result = run(SINEW, "info", "topology", "--svg", path)
            self.assertEqual((result.code, result.out, result.err), (0, "", ""))
            svg = xml.dom.minidom.parse(path).documentElement
        cores = [row for row in json.loads(run(SINEW, "info", "topology", "--json").out)["topology"]
                 if "core" in row]
        words = [text.firstChild.data for text in svg.getElementsByTagName("text")]
        for row in cores:
            self.assertIn("core " + row["core"], words)
        self.assertIn("%d cores" % len(cores),
                      svg.getElementsByTagName("title")[0].firstChild.data)
        refused = run(SINEW, "info", "topology", "--svg", "/proc/none/m.svg")
        self.assertEqual(refused.code, 1)
        self.assertIn("/proc/none/m.svg", refused.err)
        self.assertEqual(run(SINEW, "info", "config", "--svg", "x").code, 2)

    def test_info_config_shows_origin(self):
        env = {"SINEW_BASE_LOG": "info"}
        result = run(SINEW, "info", "config", env=env)
        self.assertRegex(result.out, r"SINEW_BASE_LOG\s+info\s+environment")
        settings = {each["name"]: each
                    for each in json.loads(run(SINEW, "info", "config", "--json",
                                               env=env).out)["config"]}
        self.assertEqual(settings["SINEW_BASE_LOG"]["origin"], "environment")
        self.assertEqual(settings["SINEW_BASE_LOG"]["default"], "warn")

    def test_info_reports_unknown_settings(self):
        result = run(SINEW, "info", "config", env={"SINEW_BASE_LGO": "info"})
        self.assertIn("SINEW_BASE_LOG", result.err)

    def test_ranks_find_our_library_first(self):
        folder = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(SINEW))), "lib")
        if not os.path.exists(os.path.join(folder, "libmpi_abi.so.1")):
            self.skipTest("this tree has no MPI binding")
        foreign = [os.path.join(folder, "sinew", each) for each in ("mpich", "openmpi")]
        folder = ":".join([folder] + [each for each in foreign if os.path.exists(each)])
        ask = ("sh", "-c", 'echo "$LD_LIBRARY_PATH"')
        for before, after in (("", folder), ("/x:/y", folder + ":/x:/y")):
            env = {"LD_LIBRARY_PATH": before}
            self.assertEqual(run(SINEW, "run", *ask, env=env).out, after + "\n")
        self.assertEqual(run(SINEW, "run", "-x", "LD_LIBRARY_PATH=/z", *ask).out,
                         folder + ":/z\n")

    def test_info_usage(self):
        self.assertEqual(run(SINEW, "info", "confg").code, 2)
        self.assertIn("config?", run(SINEW, "info", "confg").err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
