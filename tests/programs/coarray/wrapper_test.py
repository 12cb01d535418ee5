# SPDX-License-Identifier: BSD-3-Clause
"""caf.sinew answers as gfortran does where nothing is to be compiled, as configure scripts ask it.

usage: wrapper_test.py CAF GFORTRAN
"""

import os
import subprocess
import sys
import tempfile
import unittest

CAF, GFORTRAN = sys.argv[1:3]


def run(*words, **how):
    return subprocess.run(words, env={**os.environ, "CAF_FC": GFORTRAN}, capture_output=True,
                          text=True, timeout=90, check=False, **how)


class Wrapper(unittest.TestCase):
    def test_questions(self):
        for words in ("-v", "--version", "-v --version", "--help", "-dumpversion", "-dumpmachine",
                      "-print-prog-name=f951", "-v -O2", "-v -I ."):
            with self.subTest(words=words):
                mine, theirs = run(CAF, *words.split()), run(GFORTRAN, *words.split())
                self.assertEqual((mine.returncode, mine.stdout, mine.stderr),
                                 (theirs.returncode, theirs.stdout, theirs.stderr))

    def test_files_are_linked(self):
        with tempfile.TemporaryDirectory() as place:
            source, program = f"{place}/one.f90", f"{place}/one"
            with open(source, "w", encoding="ascii") as text:
                text.write("print '(i0)', num_images()\nend\n")
            for words in ((source, "-o", program), ("-o", program, source),
                          ("-v", source, "-o", program), ("-I", place, source, "-o", program),
                          ("-x", "f95", "-", "-o", program)):
                with self.subTest(words=words):
                    with open(source, encoding="ascii") as text:
                        done = run(CAF, *words, stdin=text)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(run(program).stdout, "1\n")
                    os.remove(program)

    def refused(self, compiler):
        done = subprocess.run([CAF, "one.f90"], env={**os.environ, "CAF_FC": compiler}, timeout=90,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        return done.stderr

    def test_another_compiler_is_no_gfortran(self):
        with tempfile.TemporaryDirectory() as place:
            flang = f"{place}/flang-22"
            with open(flang, "w", encoding="ascii") as text:
                text.write("#!/bin/sh\ncase $1 in\n  -dumpversion) echo 22.1.8 ;;\n"
                           "  --version) echo Debian flang version 22.1.8; echo Target: here ;;\n"
                           "  *) echo compiled ;;\nesac\n")
            os.chmod(flang, 0o755)
            said = self.refused(flang)
            self.assertIn('flang-22" is no gfortran (it says "Debian flang version 22.1.8")', said)
            self.assertRegex(said, r"name it in CAF_FC, or unset CAF_FC and SINEW_FC\.\n$")
        self.assertIn("cannot be run. Install gfortran", self.refused("/nowhere/gfortran"))

    def test_its_own_version(self):
        self.assertRegex(run(CAF, "-showme:version").stdout, r"^caf\.sinew: Sinew \d")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
