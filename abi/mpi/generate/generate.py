#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes include/c/mpi.h and abi/mpi/generated; with --check, compares instead of writing.

Needs the package pympistandard, a build does not: what this makes is checked in."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
GENERATED = HERE.parent / "generated"
PARTS = 4


def products():
    import bindings
    import header
    import license_line
    import model
    import removed
    procedures = model.procedures()
    sections = model.constants(HERE / "constants.txt")
    plain = [p for p in procedures if not p.small.variadic]
    made = {
        ROOT / "include/c/mpi.h": header.render(procedures, model.callbacks(), sections,
                                                    removed.prototypes()),
        GENERATED / "impl.hpp": bindings.declarations(plain),
        GENERATED / "collective_calls.hpp": bindings.collective_calls(plain),
        GENERATED / "collective_forms.cpp": bindings.collective_forms(plain),
        GENERATED / "predefined.hpp": bindings.predefined(sections),
        GENERATED / "unsupported.cpp": bindings.unsupported(plain),
        GENERATED / "file_accesses.cpp": bindings.file_accesses(plain),
        GENERATED / "names.txt": "\n".join(sorted(
            f.name for p in procedures for f in (p.small, p.large) if f)) + "\n",
        GENERATED / "removed.cpp": removed.definitions(),
        GENERATED / "removed_names.txt": removed.names(),
    }
    share = -(-len(procedures) // PARTS)
    for part in range(PARTS):
        made[GENERATED / f"bindings_{part + 1}.cpp"] = bindings.definitions(
            procedures[part * share:(part + 1) * share])
    return license_line.licensed(made)


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
                print(f"{path.relative_to(ROOT)} differs from what the data give: "
                      "run abi/mpi/generate/generate.py")
                stale = 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return stale


if __name__ == "__main__":
    sys.exit(main())
