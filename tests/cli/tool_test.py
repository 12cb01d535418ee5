"""sinew's own commands: help, man page, completion, info."""

import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import SINEW, run  # noqa: E402


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

    def test_man_page(self):
        page = run(SINEW, "help", "--man").out
        self.assertTrue(page.startswith(".TH SINEW 1"))
        self.assertIn("\\-\\-timeout", page)

    def test_completion(self):
        script = run(SINEW, "help", "--completion").out
        check = script + ('\nCOMP_WORDS=(sinew run --time); COMP_CWORD=2; _sinew; '
                          'echo "${COMPREPLY[@]}"')
        shell = subprocess.run(["bash", "-c", check], capture_output=True, text=True, timeout=100)
        self.assertEqual((shell.stdout, shell.stderr), ("--timeout\n", ""))

    def test_version(self):
        self.assertRegex(run(SINEW, "--version").out, r"^sinew \d+\.\d+\.\d+\n$")

    def test_info(self):
        for page in ("config", "transports", "topology", "deps"):
            result = run(SINEW, "info", page)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertGreater(len(result.out.splitlines()), 1)
            self.assertIn(page, json.loads(run(SINEW, "info", page, "--json").out))
        everything = json.loads(run(SINEW, "info", "--json").out)
        self.assertEqual(sorted(everything), ["config", "deps", "topology", "transports"])

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
            self.skipTest("this tree has no MPI face")
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
