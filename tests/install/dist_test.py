# SPDX-License-Identifier: BSD-3-Clause
"""Makes an archive of the sources as `make dist` does, and configures what it holds without git."""

import os
import re
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], env=dict(os.environ, **more), text=True,
                          timeout=400, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Dist(unittest.TestCase):
    def test_all_have_the_same_version(self):
        project = (TREE / "CMakeLists.txt").read_text()
        version = re.search(r"project\(sinew VERSION (\S+)", project)[1]
        recipes = [*map(TREE.joinpath, ("CITATION.cff", "packaging/debian/changelog"))]
        for folder in ("spack", "conda", "easybuild", "guix", "docker", "apptainer"):
            recipes += [p for p in (TREE / "packaging" / folder).rglob("*")
                        if p.is_file() and p.name != "repo.yaml"]
        self.assertEqual(len(recipes), 8, recipes)
        for recipe in recipes:
            self.assertRegex(recipe.read_text(), rf"(?<!\d){re.escape(version)}(?!\d)", recipe)

    @unittest.skipUnless((TREE / ".git").exists(), "this tree has no .git to make an archive of")
    def test_what_is_unpacked_is_configured_without_git(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        work = Path(folder.name)
        archive = Path(run(TREE / "tools/dist", work).strip())
        with tarfile.open(archive) as packed:
            packed.extractall(work)
        tree = work / archive.name.removesuffix(".tar.gz")
        self.assertFalse((tree / ".git").exists())
        calls = work / "calls"
        git = work / "bin/git"
        git.parent.mkdir()
        git.write_text(f"#!/bin/sh\necho \"$@\" >> {calls}\nexit 1\n")
        git.chmod(0o755)
        run("cmake", "-S", tree, "-B", tree / "build", "-G", "Ninja",
            PATH=f"{git.parent}:{os.environ['PATH']}")
        self.assertFalse(calls.exists(), "git is called while the tree is configured")
        self.assertIn("git", run("sh", "-c", f"{tree}/tools/dist 2>&1 || true"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
