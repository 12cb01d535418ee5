# SPDX-License-Identifier: BSD-3-Clause
"""What images say of the statement in which they wait for ever, and for whom.

usage: hangs_test.py SINEW PROGRAM
"""

import re
import subprocess
import sys
import unittest

SINEW, PROGRAM = sys.argv[1:3]

# What image 1 of 4 is in, and what it says.
WANTED = [
    ("sync all", "in sync all: image 2 has not come to it"),
    ("sync images", "in sync images: image 2 has not come to one with this image"),
    ("sync images, all", "in sync images: image 2 has not come to one with this image"),
    ("event wait", "in event wait: [01] posts are there, 3 are wanted"),
    ("lock", "in lock, image 4: element 3 of the variable on image 4 is locked by image 2"),
    ("co_sum", "in co_sum: image 2 has not come to (it|one with this image)"),
    ("co_broadcast", "in co_broadcast, image 2: image 2 has not come to it"),
    ("allocate", "in allocate: image 2 has not come to it"),
    ("form team", "in form team: image 2 has not come to it"),
    ("sync all in a team", "in sync all: images 2 and 4 have not come to it"),
    ("atomic_ref", "looks again and again by atomic_ref"),
    ("event_query", "looks again and again by event_query"),
    ("stop", "in stop: image 2 runs on"),
]


class Hangs(unittest.TestCase):
    def told(self, pattern, *words):
        """Reads what the job says until that is there; then it is ended."""
        with subprocess.Popen([SINEW, "run", "-n", "4", "--hang-timeout", "0.5", "--timeout", "100",
                               *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as job:
            text = ""
            while not re.search(pattern, text):
                line = job.stderr.readline().decode()
                if not line:
                    break  # the time was up
                text += line
            job.terminate()
            job.communicate(timeout=100)
        self.assertRegex(text, pattern)

    def test_statements(self):
        for what, pattern in WANTED:
            for cpus in ((), ("-x", "SINEW_BOOT_LOCAL_CPUS=64")):  # as if each image had one
                with self.subTest(what=what, cpus=cpus):
                    self.told(rf"image 1 of 4: {pattern}\.\n", *cpus, PROGRAM, what)

    def test_when_the_time_is_up(self):
        done = subprocess.run([SINEW, "run", "-n", "4", "--timeout", "4", PROGRAM, "sync all"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=100, check=False)
        self.assertEqual(done.returncode, 124, done.stderr)
        for image in (1, 3, 4):
            self.assertRegex(done.stderr, f"image {image} of 4: in sync all: image 2 has not come")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
