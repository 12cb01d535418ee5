# SPDX-License-Identifier: BSD-3-Clause
"""A library of another MPI's ABI exports all names of that MPI's, each function of C also under its
PMPI_ name."""

import subprocess
import sys


def main(nm, library, names_file):
    names = set(open(names_file, encoding="ascii").read().split())
    listing = subprocess.run([nm, "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    kinds = {line.split()[2].split("@")[0]: line.split()[1] for line in listing.splitlines()}
    functions = {name for name in names if name.startswith("MPI_")
                 and kinds.get(name, "T") in "TW" and not name[len("MPI_"):].isupper()}
    wanted = names | {"P" + name for name in functions}
    faults = [f"missing: {name}" for name in sorted(wanted - set(kinds))]
    print("\n".join(faults[:40]) or f"{len(kinds)} symbols, {len(names)} of them asked for")
    return 1 if faults or not names else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
