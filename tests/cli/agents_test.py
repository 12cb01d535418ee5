# SPDX-License-Identifier: BSD-3-Clause
"""Daemons that are started by an agent, here one that starts them on this machine."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import sinew_run, survivors  # noqa: E402

AGENT = """#!/bin/sh
host=$1
shift
if [ $host = broken ]; then echo out of order >&2; exit 7; fi
exec sh -c "$*"
"""


class Tree(unittest.TestCase):
    """The width says who starts the agents: the launcher all, or each daemon one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.agent = os.path.join(folder.name, "agent")
        with open(self.agent, "w") as script:
            script.write(AGENT)
        os.chmod(self.agent, 0o755)

    def tearDown(self):
        self.assertEqual(survivors(), [])

    def run_on(self, hosts, width, *words):
        return sinew_run("--hosts", hosts, "--rsh", self.agent, "--host-tree", str(width), *words)

    def test_a_job_ends_as_soon_below_daemons(self):
        flat, tree = (self.run_on("a:1,b:1,c:1", width, "true") for width in (32, 1))
        self.assertEqual((flat.code, flat.err, tree.code, tree.err), (0, "", 0, ""))
        self.assertLess(tree.seconds, flat.seconds + 1)

    def test_an_agent_that_fails_is_named_wherever_it_runs(self):
        for width in (32, 1):
            with self.subTest(width=width):
                done = self.run_on("a,b,broken", width, "true")
                self.assertEqual(done.code, 1)
                self.assertEqual(done.err, f"sinew run: the host broken cannot be used: "
                                 f"{self.agent} ended with code 7: out of order.\n")
                self.assertLess(done.seconds, 15)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
