# SPDX-License-Identifier: BSD-3-Clause
"""mpif.h as a library's programs see it, for our tests: the standard's with the library's values.
Programs of users are built with the library's own."""

import interfaces
from c_header import _with_values

# The special addresses, as statements: variables in COMMON blocks.
ADDRESSES = {"mpich": """\
INTEGER MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE(5)
COMMON /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE
INTEGER MPI_STATUSES_IGNORE(5,1), MPI_ERRCODES_IGNORE(1)
COMMON /MPIPRIV2/ MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE
CHARACTER*1 MPI_ARGVS_NULL(1,1), MPI_ARGV_NULL(1)
COMMON /MPIPRIVC/ MPI_ARGVS_NULL, MPI_ARGV_NULL
INTEGER MPI_UNWEIGHTED(1)
COMMON /MPIFCMB5/ MPI_UNWEIGHTED
INTEGER MPI_WEIGHTS_EMPTY(1)
COMMON /MPIFCMB9/ MPI_WEIGHTS_EMPTY
""", "openmpi": "".join(f"""\
{kind} MPI_{name}{shape}
COMMON /mpi_fortran_{name.lower()}/ MPI_{name}
""" for name, kind, shape in (
    ("BOTTOM", "INTEGER", ""), ("IN_PLACE", "INTEGER", ""), ("UNWEIGHTED", "INTEGER", "(1)"),
    ("WEIGHTS_EMPTY", "INTEGER", "(1)"), ("ERRCODES_IGNORE", "INTEGER", "(1)"),
    ("ARGV_NULL", "CHARACTER*1", "(1)"), ("ARGVS_NULL", "CHARACTER*1", "(1,1)"),
    ("STATUS_IGNORE", "INTEGER", "(6)"), ("STATUSES_IGNORE", "INTEGER", "(6,1)")))}


def _value(library, name, row):
    value = row["openmpi_fortran"] if row[library].startswith("@") else row[library]
    if library == "mpich" and int(value) >> 24 in (0x64, 0x66):  # keys of predefined attributes
        return str(int(value) + 1)
    return value


def sections_of(rows, library, sections):
    """The constants, with the values that the library has for them in Fortran."""
    in_fortran = [dict(row, **{library: _value(library, row["name"], row)}) for row in rows
                  if row[library] != "-"]
    return list(_with_values(sections, in_fortran, library))


def render(rows, library, procedures, sections):
    displacement = next(row[library] for row in rows if row["name"] == "DISPLACEMENT_CURRENT")
    return interfaces.mpif_h(procedures, sections_of(rows, library, sections),
                             displacement + "_8", ADDRESSES[library].splitlines)
