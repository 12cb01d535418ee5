# SPDX-License-Identifier: BSD-3-Clause
"""tools/report, which `make report` runs: ended midway it leaves nothing running, and started again
it goes on where it was, with a bar and an estimate. The measurements are the shortest there are.

make_report_test.py SINEW PROBE
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from support import PATIENCE, SINEW

REPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "report")
NAMES = ["table", "pool"]

# Stands where the tool would: notes what it is asked for, and measures one round without peers.
# While the file `slow` is there the second experiment lasts until it is ended.
STAND_IN = """#!/bin/sh
echo "$@" >> "$0.asked"
case $1-$2 in
bench-pool) [ ! -e "$0.slow" ] || { echo $$ > "$0.pid"; exec sleep 1000; } ;;
esac
if [ "$1" = bench ]; then set -- "$@" --peers none --repeat 1; fi
exec %s "$@"
"""


class MakeReport(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.build = place.name
        os.mkdir(os.path.join(self.build, "bin"))
        self.tool = os.path.join(self.build, "bin", "sinew")
        with open(self.tool, "w", encoding="utf-8") as file:
            file.write(STAND_IN % os.path.abspath(SINEW))
        os.chmod(self.tool, 0o755)

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def start(self):
        return subprocess.Popen([REPORT, *NAMES], env={**os.environ, "SINEW_BUILD": self.build},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def asked(self):
        """The experiments that were measured since this was last called."""
        path = self.tool + ".asked"
        words = [line.split() for line in self.read(path).splitlines()]
        os.remove(path)
        return [w[1] for w in words if w[0] == "bench"]

    def end_midway(self):
        slow, pid_file = self.tool + ".slow", self.tool + ".pid"
        with open(slow, "w", encoding="ascii"):
            pass
        report = self.start()
        self.addCleanup(report.kill)
        end = time.monotonic() + PATIENCE
        while not (os.path.exists(pid_file) and self.read(pid_file).strip()):
            self.assertLess(time.monotonic(), end, "the second experiment never began")
            # Wait: until the second experiment has begun.
            time.sleep(0.05)
        report.send_signal(signal.SIGTERM)
        out, err = report.communicate(timeout=PATIENCE)
        os.remove(slow)
        self.assertEqual(report.returncode, 143, out + err)
        self.assertIn("goes on with pool", err)
        with self.assertRaises(ProcessLookupError, msg="what it started still runs"):
            os.kill(int(self.read(pid_file)), 0)
        return out

    def test_ended_midway_it_goes_on_where_it_was(self):
        out = self.end_midway()
        self.assertIn("1 of 2: table, time left not known yet", out)
        self.assertRegex(out, r"\[#{10} {10}\] 2 of 2: pool, about \d+ min left")
        self.assertEqual(self.asked(), ["table", "pool"])
        folder = os.path.join(self.build, "report", "quick")
        self.assertEqual(["table.json"], [n for n in os.listdir(folder) if "json" in n])
        before = os.stat(os.path.join(folder, "table.json")).st_mtime_ns

        report = self.start()
        self.addCleanup(report.kill)
        out, err = report.communicate(timeout=200)
        self.assertEqual(report.returncode, 0, out + err)
        self.assertEqual(self.asked(), ["pool"])
        self.assertIn("table: measured already", out)
        self.assertEqual(before, os.stat(os.path.join(folder, "table.json")).st_mtime_ns)
        page = self.read(os.path.join(folder, "page", "index.html"))
        for figure in ("table-insert", "pool"):
            self.assertIn(f'id="{figure}"', page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
