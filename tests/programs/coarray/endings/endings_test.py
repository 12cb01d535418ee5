# SPDX-License-Identifier: BSD-3-Clause
"""How coarray programs end: codes, words, and that nothing stays behind.

usage: endings_test.py SINEW ENDINGS OUTSIDE
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

SINEW, PROGRAM, OUTSIDE = sys.argv[1:4]

# ending, images, exit code (None: any but 0), what stdout says, what stderr says
TABLE = [
    ("end", 3, 0, r"^$", r"^$"),
    ("stop", 3, 0, r"^$", r"^$"),
    ("stop 3", 2, 3, r".*", r"STOP 3"),
    ("stop text", 3, 0, r".*", r"that was all"),
    ("stop early", 3, 0, r"^reached 3\n$", r"^$"),
    ("error stop", 3, 7, r".*", r".*"),
    ("error stop text", 3, 1, r".*", r"no way on"),
    ("killed", 3, 137, r".*", r"rank 1 .*SIGKILL"),
    ("failed", 3, None, r"went on without it", r".*"),
    ("failed", 2, None, r"went on without it", r".*"),
    ("died", 2, 0, r"went on without it", r"SIGKILL .*; the others go on"),
    ("died", 3, 0, r"went on without it", r"SIGKILL .*; the others go on"),
    ("died in a lock", 3, 0, r"went on without it", r"SIGKILL .*; the others go on"),
    ("died, all statements", 2, 0, r"went on without it", r"SIGKILL .*; the others go on"),
    ("died, all statements", 3, 0, r"went on without it", r"SIGKILL .*; the others go on"),
    ("stopped", 3, 0, r"went on without it", r".*"),
    ("stopped, all statements", 3, 0, r"went on without it", r".*"),
    ("stopped, one ahead", 3, 0, r"went on without it", r".*"),
    ("failed, all statements", 3, None, r"went on without it", r".*"),
    ("failed, all statements", 2, None, r"went on without it", r".*"),
    ("failed, then a team", 3, None, r"went on without it", r".*"),
    ("failed, then a team", 4, None, r"went on without it", r".*"),
    *((f"failed, last {statement}", 4, 0, r"went on without it", r"^$") for statement in (
        "sync all", "co_sum", "co_sum, long", "co_min", "co_broadcast", "deallocate",
        "form team")),
    ("failed, then deallocate", 3, 1, r"^$", r"deallocate: an image has failed"),
    ("put after deallocate", 2, 1, r"^$", r"coarray: it is not allocated on this image"),
    ("get after deallocate", 2, 1, r"^$", r"coarray: it is not allocated on this image"),
    ("stopped, then deallocate", 3, 0, r"went on without it", r"^$"),
    ("stopped in a team", 3, 0, r"went on without it", r".*"),
    ("failed in a lock", 3, None, r"went on without it", r".*"),
    ("stopped in a lock", 2, 0, r"went on without it", r".*"),
    ("stopped in a lock", 3, 0, r"went on without it", r".*"),
    ("nobody to post", 3, 0, r"went on without it", r".*"),
    ("nobody to post, no stat", 3, 1, r".*", r"event wait: no other image is left"),
    ("nobody to post, no stat", 1, 0, r"^$", r"^$"),
    ("stopped, no stat", 3, None, r".*", r"stopped"),
    ("no such image", 3, None, r".*", r"\b4\b"),
    ("no image 0", 2, None, r".*", r"\b0\b"),
    ("no such image, printing", 2, 1, r".*", r"image 3 does not exist"),
    ("no such image, printing", 1, 1, r".*", r"image 2 does not exist"),
    ("no such image, writing two", 2, 1, r".*", r"image 3 does not exist"),
    ("error stop, printing", 3, 7, r".*", r"ERROR STOP 7"),
    ("error stop text, printing", 3, 1, r".*", r"no way on"),
    ("stop, printing", 2, 3, r".*", r"STOP 3"),
    ("stop text, printing", 2, 0, r".*", r"that was all"),
    ("failed, printing", 3, None, r"went on without it", r".*"),
    ("locked twice, printing", 2, 1, r".*", r"locked it already"),
    ("not allocated", 1, None, r".*", r"not allocated"),
    ("broadcast, allocated at source", 2, 1, r"^$", r"at the source image, and not here"),
    ("broadcast, allocated elsewhere", 3, 1, r"^$", r"here, and not at the source image"),
    ("twice", 2, None, r".*", r"twice|duplicate"),
    ("not locked", 2, None, r".*", r"lock"),
    ("locked twice", 2, None, r".*", r"lock"),
    ("too large", 2, None, r".*", r"SINEW_RMA_HEAP"),
    ("too large, stat", 2, 0, r"told: .+", r".*"),
]

# What leads outside in outside.f90, and how the sentence names it.
OUT_OF_BOUNDS = [
    ("put element", "element 11 of an array of 10"),
    ("get element", "element 11 of an array of 10"),
    ("get element 0", "element 0 of an array of 10"),
    ("put section", "elements 8 to 10000 of an array of 10"),
    ("get section", "elements 1 to 11 of an array of 10"),
    ("get section from 0", "elements 0 to 10 of an array of 10"),
    ("put array", "elements 2 to 11 of an array of 10"),
    ("put strided", "elements 1 to 11 of an array of 10"),
    ("put backwards", "elements 0 to 3 of an array of 10"),
    ("put by vector", "elements 2 to 11 of an array of 10"),
    ("get by vector", "elements 0 to 2 of an array of 10"),
    ("put row", "elements 4 to 13 of an array of 12"),
    ("put column", "elements 13 to 15 of an array of 12"),
    ("get text", "element 2 of an array of 1"),
    ("put allocatable", "elements 4 to 6 of an array of 5"),
    ("image to image", "elements 10 to 11 of an array of 10"),
    ("fixed component", "subscript is out of bounds"),
    ("fixed component 0", "subscript is out of bounds"),
    ("component of an element", "element 4 of an array of 3"),
    ("allocatable component", r"subscript 7 of dimension 1 .* 2:6"),
    ("allocatable component, 1", r"subscript 1 of dimension 1 .* 2:6"),
    ("allocatable component, part", r"subscript 7 of dimension 1 .* 2:6"),
    ("component by vector", r"subscript 7 of dimension 1 .* 2:6"),
    ("pointer component", r"subscript 4 of dimension 1 .* -1:3"),
    ("pointer component, part", r"subscript 4 of dimension 1 .* -1:3"),
    ("element, then component", r"subscript 4 of dimension 1 .* 1:3"),
    ("allocated", "element 4 of an array of 3"),
    ("atomic", "subscript is out of bounds"),
    ("event post", "element 3 of an array of 2"),
    ("lock", "element 3 of an array of 2"),
]


def shared_files():
    names = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return set(name for name in names if "sinew" in name)


def survivors():
    found = subprocess.run(["pgrep", "-f", f"^{re.escape(PROGRAM)}"], capture_output=True,
                           text=True, check=False)
    return found.stdout.split()


def what_stays(find):
    """What `find` sees for 20 s on end: another program's file or a child on its way does not."""
    found = find()
    limit = time.monotonic() + 20
    while found and time.monotonic() < limit:
        time.sleep(0.05)
        found = type(found)(each for each in find() if each in found)
    return found


class Endings(unittest.TestCase):
    def test_an_image_dies_that_is_asked_for_its_own_memory(self):
        with mock.patch.dict(os.environ, SINEW_FABRIC_CMA="off", SINEW_CORE_PROGRESS="waiters"):
            self.check("died when asked", 2, 1, r"^$", r"another image: image 2 has failed")

    def check(self, words, images, code, out, err):
        files = shared_files()
        done = subprocess.run(
            [SINEW, "run", "-n", str(images), "--timeout", "60",
             *(["--survive"] if words.startswith("died") else []), PROGRAM, words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90, check=False)
        told = f"{words}, {images} images: code {done.returncode}\n{done.stdout}\n{done.stderr}"
        self.assertNotEqual(done.returncode, 124, told)  # nobody waits for who has left
        if code is None and "went on" in out:
            pass  # whether a job with a failed image has succeeded is left to the launcher
        elif code is None:
            self.assertNotEqual(done.returncode, 0, told)
        else:
            self.assertEqual(done.returncode, code, told)
        self.assertRegex(done.stdout, out, told)
        self.assertRegex(done.stderr, err, told)
        self.assertEqual(what_stays(survivors), [], told)
        self.assertEqual(what_stays(lambda: shared_files() - files), set(), told)

    def test_table(self):
        for row in TABLE:
            with self.subTest(ending=row[0], images=row[1]):
                self.check(*row)

    def test_subscripts_out_of_bounds(self):
        for images in (1, 2):
            done = subprocess.run([SINEW, "run", "-n", str(images), OUTSIDE, "good"],
                                  capture_output=True, text=True, timeout=90, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "good\n"), done.stderr)
            for case, sentence in OUT_OF_BOUNDS:
                with self.subTest(case=case, images=images):
                    done = subprocess.run(
                        [SINEW, "run", "-n", str(images), "--timeout", "60", OUTSIDE, case],
                        capture_output=True, text=True, timeout=90, check=False)
                    self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                    self.assertRegex(done.stderr, sentence)

    def test_other_units_are_flushed(self):
        with tempfile.TemporaryDirectory() as place:
            done = subprocess.run(
                [SINEW, "run", "-n", "2", "--timeout", "60", PROGRAM,
                 "error stop, other units", place + "/text"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90, check=False)
            self.assertEqual(done.returncode, 7, done.stderr)
            with open(place + "/text", encoding="ascii") as kept:
                self.assertEqual(kept.read(), "kept\n")

    def test_without_a_launcher(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "SINEW_"))}
        for ending, code in (("end", 0), ("stop 3", 3), ("stop, printing", 3),
                             ("no such image, printing", 1)):
            done = subprocess.run([PROGRAM, ending], env=clean, capture_output=True, text=True,
                                  timeout=90, check=False)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_images_by_the_environment(self):
        done = subprocess.run([SINEW, "run", PROGRAM, "stop early"], capture_output=True, text=True,
                              env={**os.environ, "SINEW_IMAGES": "4"}, timeout=90, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "reached 4\n"), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
