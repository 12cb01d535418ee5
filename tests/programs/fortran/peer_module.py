#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""peer_module.py LIBRARY MPI_F08: prints module mpi_f08 as programs of LIBRARY's (mpich, openmpi)
have it: the standard's interfaces (MPI_F08), the procedures that the library has behind them, and
its types and constants, which are in abi/foreign/generated/LIBRARY/modules.f90.

MPICH's have gfortran's descriptors of choice buffers, and Open MPI's have addresses."""

import re
import sys

OPENMPI_ADDRESSES = [
    f'{kind}, bind(C, name="mpi_fortran_{name.lower()}_"), target :: MPI_{name}{shape}'
    for name, kind, shape in (
        ("BOTTOM", "integer", ""), ("IN_PLACE", "integer", ""), ("UNWEIGHTED", "integer", "(1)"),
        ("WEIGHTS_EMPTY", "integer", "(1)"), ("ERRCODES_IGNORE", "integer", "(1)"),
        ("ARGV_NULL", "character", "(1)"), ("ARGVS_NULL", "character", "(1,1)"),
        ("STATUS_IGNORE", "type(MPI_Status)", ""),
        ("STATUSES_IGNORE", "type(MPI_Status)", "(1)"))]
USED = {"mpich": ("mpi_f08_types", "mpi_f08_compile_constants", "mpi_f08_link_constants",
                  "mpi_f08_callbacks"),
        "openmpi": ("mpi_f08_types", "mpi_f08_callbacks")}


def mpich(procedure):
    """Profiling names differ, too."""
    head = re.sub(r" bind\(C,.*\)", "", procedure[0]).replace(" PMPI_", " PMPIR_")
    return [head] + procedure[1:]


def openmpi(procedure):
    """There are no large counts."""
    if re.search(r"_c_f08(ts)?\(", procedure[0]):
        return []
    lines = [re.sub(r"_f08ts\((.*?)\) bind\(C,.*\)", r"_f08(\1)", procedure[0])]
    for line in procedure[1:]:
        buffer = re.match(r" *TYPE\(\*\), dimension\(\.\.\).* :: (\w+)", line, re.I)
        lines += [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {buffer[1]}",
                  f"type(*) :: {buffer[1]}(*)"] if buffer else [line]
    return lines


def interfaces(library, lines):
    """The abstract ones as they are; of others the procedures that the library has."""
    procedure, abstract, inside = [], False, False
    for line in lines:
        abstract = line == "abstract interface" or abstract and line != "end interface"
        inside = inside or bool(re.match(r" +(?!end\b).*(subroutine|function) P?MPI_", line, re.I))
        if not inside or abstract:
            yield line
            continue
        procedure += [line]
        if re.match(r" *end (subroutine|function)", line):
            yield from (mpich if library == "mpich" else openmpi)(procedure)
            procedure, inside = [], False


def main():
    library, source = sys.argv[1:]
    text = re.sub(r", *&\n +", ", ", open(source, encoding="ascii").read())
    text = text[text.index("abstract interface"):]
    # The library's own modules have these.
    text = re.sub(r"\ninterface\n.*?\nend interface", "", text, count=1, flags=re.S)
    elsewhere = "Sizeof|Status_f2f08|Status_f082f" if library == "mpich" else "Sizeof"
    text = re.sub(rf"\ninterface P?MPI_({elsewhere})\n.*?\nend interface", "", text, flags=re.S)
    print("\n".join(["module mpi_f08"] + [f"use {module}" for module in USED[library]]
                    + ["use, intrinsic :: iso_c_binding, only: c_ptr", "implicit none",
                       "private :: c_ptr"] + (OPENMPI_ADDRESSES if library == "openmpi" else [])
                    + list(interfaces(library, text.split("\n")))))


if __name__ == "__main__":
    main()
