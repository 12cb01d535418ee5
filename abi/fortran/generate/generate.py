#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes abi/fortran/generated; with --check, compares instead of writing.

Needs the package pympistandard, a build does not: what this makes is checked in."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
MPI = HERE.parents[1] / "mpi/generate"
GENERATED = HERE.parent / "generated"
PARTS = 2
sys.path[:0] = [str(HERE), str(MPI)]


def products():
    import bodies
    import interfaces
    import license_line
    import model
    import procedures
    found = procedures.procedures()
    sections = model.constants(MPI / "constants.txt")
    made = {
        "mpi_abi_common.f90": interfaces.common_module(sections),
        "mpi_f08.f90": interfaces.f08_module(found, procedures.callbacks(), sections),
        "mpi.f90": interfaces.mpi_module(found, sections),
        "mpif.h": interfaces.mpif_h(found, sections),
        **interfaces.default_reals(sections),
    }
    share = -(-len(found) // PARTS)
    for part in range(PARTS):
        some = found[part * share:(part + 1) * share]
        made[f"bodies_{part + 1}.cpp"] = bodies.definitions(some)
        made[f"sections_{part + 1}.cpp"] = bodies.sections(some)
    return license_line.licensed({GENERATED / name: text for name, text in made.items()})


def main():
    try:
        import pympistandard  # noqa: F401
    except ImportError:
        print("pympistandard cannot be imported: nothing was compared or written")
        return 77
    stale = 0
    for path, text in products().items():
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                print(f"abi/fortran/generated/{path.name} differs from what the data give: "
                      "run abi/fortran/generate/generate.py")
                stale = 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return stale


if __name__ == "__main__":
    sys.exit(main())
