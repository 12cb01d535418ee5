# SPDX-License-Identifier: BSD-3-Clause
"""Each of the ABI's functions has a body that was written: those that the generator makes, which
answer MPI_ERR_UNSUPPORTED_OPERATION, are weak, and another object has to replace them. Lists the
functions for which none does."""

import re
import subprocess
import sys
from pathlib import Path


def bodies(nm, objects):
    """{function's symbol in impl: the objects that have it}, of weak ones and of others."""
    weak, strong = {}, {}
    for name in objects:
        listing = subprocess.run([nm, "--defined-only", name], check=True, capture_output=True,
                                 text=True).stdout
        for line in listing.splitlines():
            words = line.split()
            if words and words[-1].startswith("_ZN5sinew3mpi4impl"):
                (weak if words[-2] in "Ww" else strong).setdefault(words[-1], []).append(name)
    return weak, strong


def readable(symbol):
    length = re.match(r"_ZN5sinew3mpi4impl(\d+)", symbol)
    start = length.end()
    return "MPI_" + symbol[start:start + int(length.group(1))]


def main(nm, source, *objects):
    weak, strong = bodies(nm, objects)
    faults = [f"{readable(symbol)} has the generated body alone"
              for symbol in sorted(set(weak) - set(strong))]
    faults += [f"{readable(s)} is written twice" for s, where in strong.items() if len(where) > 1]
    # Nor is one of them written that does the same.
    for path in sorted(Path(source).glob("*.cpp")):
        if path.name != "errors.cpp" and re.search(r"\bunsupported\(\)", path.read_text()):
            faults.append(f"{path.name} calls unsupported()")
    if len(weak) < 400:  # those of large counts and of the tools' interface have no other
        faults.append(f"only {len(weak)} generated bodies were found: has their form changed?")
    print("\n".join(faults) or f"{len(weak)} functions, all of them written")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
