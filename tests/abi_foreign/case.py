# SPDX-License-Identifier: BSD-3-Clause
"""A program that is run on Sinew and on its own MPI, and the comparison of what it prints."""
import dataclasses
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import Callable

from place import ran

TOLERANCE = 1e-9  # of results whose sums are taken in another order
NUMBER = r"[-+.0-9eE]+"


@dataclasses.dataclass
class Case:
    """A program, and what of its output has to agree with that on its own MPI; or, if that is not
    named, what says that it has failed."""
    name: str
    mpi: str
    command: list
    found: Callable  # (output) -> list of strings: its results
    wrong: str = "(?!)"
    ranks: int = 4
    limit: int = 300
    expected: int = 0  # its exit code
    own_ranks: int = 0  # on its own MPI; 0: as many
    env: dict = dataclasses.field(default_factory=dict)
    own_env: dict = dataclasses.field(default_factory=dict)  # more of it on its own MPI
    files: dict = dataclasses.field(default_factory=dict)  # of its folder: name -> text or path
    prepare: list = dataclasses.field(default_factory=list)  # what runs before, alone, there
    output: str = ""  # a file that has the results; else what is printed
    least: int = 1    # so many results there must be

    def results(self, place, launcher, which):
        prefix, env = launcher
        with tempfile.TemporaryDirectory() as folder:
            for name, content in self.files.items():
                if isinstance(content, Path):
                    shutil.copy(content, Path(folder, name))
                else:
                    Path(folder, name).write_text(content)
            log = place.folder / f"{self.name}.{which}.log"
            began = time.monotonic()
            if self.prepare:
                code, text = ran(self.prepare, log, self.limit, place.environment(), folder)
                if code != 0:
                    return f"it could not be prepared: {code}", [], 0
                began = time.monotonic()
            code, text = ran([*prefix, *self.command], log, self.limit, env | self.env, folder)
            seconds = time.monotonic() - began
            if self.output and Path(folder, self.output).exists():
                text = Path(folder, self.output).read_text(errors="replace")
        if re.search(self.wrong, text):
            code = "what says that it has failed"
        return code, self.found(text), seconds

    def verdict(self, place):
        """Why it failed, or "", and how long it took on Sinew and on its own MPI."""
        code, ours, seconds = self.results(place, place.on_sinew(self.ranks), "sinew")
        own_code, own, own_seconds = 0, ours, 0
        if self.mpi:
            prefix, env = place.on_own_mpi(self.mpi, self.own_ranks or self.ranks)
            own_code, own, own_seconds = self.results(place, (prefix, env | self.own_env), "own")
        if len(ours) < self.least or code != self.expected:
            return f"on Sinew: {code}, {len(ours)} results", seconds, own_seconds
        if own_code != code and self.mpi:
            print(f"  {self.name}: its own MPI: exit code {own_code}; Sinew's results stand alone")
            return "", seconds, own_seconds
        return difference(ours, own), seconds, own_seconds


def difference(ours, own):
    if len(ours) != len(own):
        return f"{len(ours)} results on Sinew, {len(own)} on its own MPI"
    for mine, other in zip(ours, own):
        if mine == other:
            continue
        a, b = mine.split(), other.split()
        if len(a) != len(b) or not all(equal(x, y) for x, y in zip(a, b)):
            return f"on Sinew \"{mine}\", on its own MPI \"{other}\""
    return ""


def equal(a, b):
    try:
        return a == b or abs(float(a) - float(b)) <= TOLERANCE * max(abs(float(a)), abs(float(b)))
    except ValueError:
        return False


def lines(pattern):
    """The lines that have this, as words."""
    return lambda text: [" ".join(line.split()) for line in text.split("\n")
                         if re.search(pattern, line)]


def counted(pattern):
    """How often this is there."""
    return lambda text: [each if isinstance(each, str) else " ".join(each)
                         for each in re.findall(pattern, text)]
