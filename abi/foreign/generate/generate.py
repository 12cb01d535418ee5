#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes abi/foreign/generated and the table of functions in abi/mpi/generated; with --check,
compares instead of writing. The standard's data are read as for the bindings of C and Fortran."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
GENERATED = HERE.parent / "generated"
C_BINDING = ROOT / "abi/mpi/generate"
PARTS = 4


def products():
    import c_header
    import constants
    import fortran_header
    import fortran_modules
    import forward
    import license_line
    import model
    import procedures as fortran
    procedures = model.procedures()
    sections = model.constants(C_BINDING / "constants.txt")
    known = constants.read(HERE / "constants.tsv")
    functions = [f for p in procedures for f in (p.small, p.large) if f]
    extensions = forward.extensions(ROOT / "include/c/mpi-ext.h")
    declared, defined = constants.openmpi_objects(known)
    made = {
        ROOT / "abi/mpi/generated/functions.hpp": forward.table(functions, extensions),
        ROOT / "abi/mpi/generated/functions.cpp": forward.table_of(functions, extensions),
        GENERATED / "mpich/mpi.h": c_header.render(known, "mpich", procedures, sections,
                                                   extensions),
        GENERATED / "mpich/mpi-ext.h": '#include "mpi.h"\n',
        GENERATED / "mpich.hpp": constants.header(known, "mpich"),
        GENERATED / "openmpi/mpi.h": c_header.render(known, "openmpi", procedures, sections,
                                                     extensions),
        GENERATED / "openmpi/mpi-ext.h": '#include "mpi.h"\n',
        GENERATED / "openmpi_objects.hpp": declared,
        GENERATED / "openmpi/objects.cpp": defined,
        GENERATED / "openmpi.hpp": constants.header(known, "openmpi"),
    }
    generated = [f for f in functions if forward.is_generated(f)]
    for library in ("mpich", "openmpi"):
        made[GENERATED / library / "mpif.h"] = fortran_header.render(
            known, library, fortran.procedures(), sections)
        made[GENERATED / library / "modules.f90"] = fortran_modules.modules(
            library, fortran_header.sections_of(known, library, sections))
    share = -(-len(generated) // PARTS)
    for part in range(PARTS):
        made[GENERATED / f"forward_{part + 1}.cpp"] = forward.definitions(
            generated[part * share:(part + 1) * share])
    return license_line.licensed(made)


def main():
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(HERE), str(C_BINDING), str(ROOT / "abi/fortran/generate")]
    try:
        import pympistandard  # noqa: F401
    except ImportError:
        print("pympistandard cannot be imported: nothing was compared or written")
        return 77
    stale = 0
    for path, text in products().items():
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                print(f"{path.relative_to(ROOT)} differs from what the data give: "
                      "run abi/foreign/generate/generate.py")
                stale = 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return stale


if __name__ == "__main__":
    sys.exit(main())
