#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""symbols_test.py NM LIBRARY GENERATED: what the modules and mpif.h promise is in the library.

Every specific procedure of mpi_f08 and mpi, with its P twin, and the same names for mpif.h."""

import pathlib
import re
import subprocess
import sys

# Abstract interfaces are no procedures.
ABSTRACT = re.compile(r"_function(_c)?$", re.I)


def promised(path):
    abstract = False
    for line in path.read_text().split("\n"):
        abstract = line == "abstract interface" or abstract and line != "end interface"
        match = re.match(
            r"\s*(?:[a-z ]+(?:\(KIND=\w+\))? )?(?:subroutine|function) (P?MPI_\w+)\(", line, re.I)
        if match and not abstract:
            yield match.group(1)


def main():
    nm, library, generated = sys.argv[1:]
    listed = subprocess.run([nm, "-D", "--defined-only", library], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    defined = {line.split()[-1] for line in listed.splitlines()}
    wanted = set()
    for path in (pathlib.Path(generated) / name for name in ("mpi_f08.f90", "mpi.f90")):
        wanted |= set(re.findall(r'bind\(C, name="(\w+)"\)', path.read_text()))
        wanted |= {procedure.lower() + "_" for procedure in promised(path)}
    # Those with a name of their own by bind(C) are not called by their Fortran name.
    wanted = {w for w in wanted if not w.endswith("_f08ts_") or w.startswith(("mpi_", "pmpi_"))}
    missing = sorted(wanted - defined)
    for name in missing:
        print(f"{name} is promised by the modules, and is not in {library}")
    twins = sorted(w for w in wanted if w.startswith("mpi_") and "p" + w not in wanted
                   and not re.search(r"_(dup|copy|delete)_fn_|_fn_null|mpi_(dup|null)", w)
                   and not w.startswith("mpi_f08_status"))
    for name in twins:
        print(f"{name} has no twin p{name}")
    if len(wanted) < 1500:
        print(f"only {len(wanted)} names were found: the test is broken")
        return 1
    return 1 if missing or twins else 0


if __name__ == "__main__":
    sys.exit(main())
