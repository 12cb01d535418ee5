# SPDX-License-Identifier: BSD-3-Clause
"""What the modules of a library's Fortran binding define, by the names that programs ask the
library for: types and their operators, constants, sizes, copy functions. Users' programs are
compiled with the library's own modules."""

import interfaces

NOTE = f"! {interfaces.NOTE.replace('abi/fortran', 'abi/foreign')}"
HANDLES = interfaces.HANDLES
EQUAL = (("==", "eq"), ("/=", "neq"))

# Handles that the standard does not have (any more): programs may name them.
FORMER = {"mpich": {"LB": 0x4c000010, "UB": 0x4c000011},
          "openmpi": {"2COMPLEX": 26, "2DOUBLE_COMPLEX": 27, "COMPLEX4": 73, "CXX_COMPLEX": 55,
                      "INTEGER16": 12, "LB": 4, "REAL2": 28, "UB": 3}}

STATUS = {"mpich": ("count_lo", "count_hi_and_cancelled", "MPI_SOURCE", "MPI_TAG", "MPI_ERROR"),
          "openmpi": ("MPI_SOURCE", "MPI_TAG", "MPI_ERROR", "internal(3)")}


def _types(library, attribute):
    lines = []
    for handle in HANDLES:
        lines += [f"type{attribute} :: MPI_{handle}"] + _sequence(attribute) + [
            "  integer(c_int) :: MPI_VAL", "end type"]
    return lines + [f"type{attribute} :: MPI_Status"] + _sequence(attribute) + [
        f"  integer(c_int) :: {component}" for component in STATUS[library]] + ["end type"]


def _sequence(attribute):
    return [] if attribute else ["  sequence"]


def _comparison(name, operator, left, right):
    """A function of a pair that are handles or, as "integer", their numbers."""
    a, b = ("a" if kind == "integer" else "a%MPI_VAL" for kind in (left, right))
    return [f"elemental logical function {name}(a, b)", f"  {left}, intent(in) :: a",
            f"  {right}, intent(in) :: b", f"  {name} = {a} {operator} b{b[1:]}", "end function"]


def _operators(name):
    """`name`: what a function for a handle's type is called, by the operator's word."""
    lines, functions = [], []
    for operator, word in EQUAL:
        lines += [f"interface operator({operator})"]
        for handle in HANDLES:
            kind = f"type(MPI_{handle})"
            for function, left, right in name(handle.lower(), word, kind):
                lines += [f"  module procedure {function}"]
                functions += _comparison(function, operator, left, right)
        lines += ["end interface"]
    return lines, functions


def _module(name, used, declared, procedures=()):
    lines = [f"module {name}"] + [f"use {other}" for other in used]
    lines += ["use, intrinsic :: iso_c_binding, only: c_int, c_ptr", "implicit none"] + declared
    return lines + (["contains"] if procedures else []) + list(procedures) + ["end module"]


def _callbacks(sections):
    procedures = []
    for kind, handle in (("comm", "Comm"), ("type", "Datatype"), ("win", "Win")):
        for name, copies in (("dup", True), ("null_copy", False)):
            procedures += [
                f"subroutine MPI_{kind}_{name}_fn(from, key, state, value_in, value_out, flag, "
                "ierror)",
                f"  type(MPI_{handle}) :: from", "  integer :: key, ierror",
                "  integer(8) :: state, value_in, value_out", "  logical :: flag",
                f"  flag = .{'true' if copies else 'false'}."]
            procedures += ["  value_out = value_in"] if copies else []
            procedures += ["  ierror = 0", "end subroutine"]
        procedures += [
            f"subroutine MPI_{kind}_null_delete_fn(from, key, value, state, ierror)",
            f"  type(MPI_{handle}) :: from", "  integer :: key, ierror",
            "  integer(8) :: value, state", "  ierror = 0", "end subroutine"]
    values = dict(interfaces._integers(sections))
    for form, kind in (("", 4), ("_c", 8)):
        procedures += [
            f"subroutine MPI_Conversion_fn_null{form}(user, datatype, n, file, position, state, "
            "ierror)",
            "  type(c_ptr), value :: user, file", "  type(MPI_Datatype) :: datatype",
            f"  integer({kind}) :: n", "  integer(8) :: position, state", "  integer :: ierror",
            f"  ierror = {values['MPI_ERR_CONVERSION']}", "end subroutine"]
    return _module("mpi_f08_callbacks", ["mpi_f08_types"], [], procedures)


def _handles(library, sections):
    yield from interfaces._handles(sections)
    for name, value in FORMER[library].items():
        yield "Datatype", f"MPI_{name}", value


def _constants(library, sections):
    lines = [f"integer, parameter :: {name} = {value}"
             for name, value in interfaces.KINDS.items()]
    lines += [f"integer, parameter :: {name} = {value}"
              for name, value in interfaces._integers(sections)]
    return lines + [f"type(MPI_{kind}), parameter :: {name} = MPI_{kind}({value})"
                    for kind, name, value in _handles(library, sections)]


# --- MPICH ---------------------------------------------------------------------------------------

SIZES = {"xint8": "integer(1)", "xint16": "integer(2)", "xint32": "integer(4)",
         "xint64": "integer(8)", "xreal32": "real(4)", "xreal64": "real(8)", "xreal128": "real(16)",
         "xcomplex32": "complex(4)", "xcomplex64": "complex(8)", "xcomplex128": "complex(16)",
         "logical": "logical", "character": "character"}
# Of module mpi, before MPICH 4.1 and since.
OLD_SIZES = {"ch": "character", "ch1": "character", "l": "logical", "l4": "logical",
             "i": "integer", "i1": "integer(1)", "i2": "integer(2)", "i4": "integer(4)",
             "i8": "integer(8)", "r": "real", "r4": "real(4)", "d": "double precision",
             "r8": "real(8)", "cx": "complex", "cx8": "complex(4)", "cx16": "complex(8)"}

MPICH_STATUS = """\
elemental subroutine mpi_status_f08_assign_c(to, from)
  type(MPI_Status), intent(out) :: to
  type(c_Status), intent(in) :: from
  to = MPI_Status(from%count_lo, from%count_hi_and_cancelled, from%MPI_SOURCE, from%MPI_TAG, &
      from%MPI_ERROR)
end subroutine
elemental subroutine mpi_status_c_assign_f08(to, from)
  type(c_Status), intent(out) :: to
  type(MPI_Status), intent(in) :: from
  to = c_Status(from%count_lo, from%count_hi_and_cancelled, from%MPI_SOURCE, from%MPI_TAG, &
      from%MPI_ERROR)
end subroutine
""" + "".join(f"""\
subroutine {p}mpi_status_f2f08(f_status, f08_status, ierror)
  integer, intent(in) :: f_status(5)
  type(MPI_Status), intent(out) :: f08_status
  integer, optional, intent(out) :: ierror
  f08_status = transfer(f_status, f08_status)
  if (present(ierror)) ierror = 0
end subroutine
subroutine {p}mpi_status_f082f(f08_status, f_status, ierror)
  type(MPI_Status), intent(in) :: f08_status
  integer, intent(out) :: f_status(5)
  integer, optional, intent(out) :: ierror
  f_status = transfer(f08_status, f_status)
  if (present(ierror)) ierror = 0
end subroutine
""" for p in ("", "p"))

MPICH_ADDRESSES = """\
integer, bind(C, name="MPIR_F08_MPI_BOTTOM"), target :: MPI_BOTTOM
integer, bind(C, name="MPIR_F08_MPI_IN_PLACE"), target :: MPI_IN_PLACE
type(MPI_Status), bind(C, name="MPIR_F08_MPI_STATUS_IGNORE_OBJ"), target :: MPI_STATUS_IGNORE
type(MPI_Status), bind(C, name="MPIR_F08_MPI_STATUSES_IGNORE_OBJ"), target :: MPI_STATUSES_IGNORE(1)
integer, target :: MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1), MPI_ERRCODES_IGNORE(1)
integer, target :: MPI_BUFFER_AUTOMATIC(1)
character, target :: MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
""".splitlines()


def _size(name, kind, shape):
    character = "character(len=1)" if kind == "character" else kind
    return [f"subroutine MPI_Sizeof_{name}(x, size, ierror)",
            f"  {character}{shape[0]} :: x{shape[1]}", "  integer, intent(out) :: size",
            "  integer, optional, intent(out) :: ierror",
            f"  {character} :: one", "  size = storage_size(one) / 8",
            "  if (present(ierror)) ierror = 0", "end subroutine"]


def _mpich(sections):
    def eq(handle, word, kind):
        yield f"mpi_{handle}_{word}", kind, kind
        yield f"mpi_{handle}_f08_{word}_f", kind, "integer"
        yield f"mpi_{handle}_f_{word}_f08", "integer", kind

    declared, procedures = _operators(eq)
    for handle in (h.lower() for h in HANDLES if h != "File"):
        for way in ("c2f", "f2c"):
            procedures += [f"integer(c_int) function mpi_{handle}_{way}(x)",
                           "  integer(c_int), value :: x", f"  mpi_{handle}_{way} = x",
                           "end function"]
    declared += ["interface assignment(=)", "  module procedure mpi_status_f08_assign_c",
                 "  module procedure mpi_status_c_assign_f08", "end interface",
                 "interface MPI_Sizeof"]
    for name, kind in SIZES.items():
        declared += [f"  module procedure MPI_Sizeof_{name}"]
        procedures += _size(name, kind, (", dimension(..)", ""))
    declared += ["end interface"]
    sizes = [line for name, kind in OLD_SIZES.items() for end, shape in (("", ""), ("v", "(*)"))
             for line in _size(name + end, kind, ("", shape))]
    old_eq, old_procedures = _operators(
        lambda handle, word, kind: [(f"{handle}{word}", kind, kind)])
    c_status = ["type, bind(C) :: c_Status"] + [f"  integer(c_int) :: {c}"
                                                for c in STATUS["mpich"]] + ["end type"]
    return (_module("mpi_constants", [], _types("mpich", "") + old_eq, old_procedures)
            + _module("mpi_sizeofs", [], [], sizes)
            + _module("mpi_c_interface_types", [], c_status)
            + _module("mpi_f08_types", ["mpi_c_interface_types"],
                      _types("mpich", ", bind(C)") + declared,
                      procedures + MPICH_STATUS.splitlines())
            + _module("mpi_f08_compile_constants", ["mpi_f08_types"],
                      _constants("mpich", sections))
            + _module("mpi_f08_link_constants", ["mpi_f08_types"], MPICH_ADDRESSES)
            + _callbacks(sections))


# --- Open MPI ------------------------------------------------------------------------------------

def _objects(sections):
    """Programs built with Open MPI older than 4.1 ask for constants as variables."""
    for kind, name, value in _handles("openmpi", sections):
        for form in dict.fromkeys((name.lower(), name.lower().removesuffix("_t"))):
            yield f"type(MPI_{kind}), bind(C) :: ompi_f08_{form} = MPI_{kind}({value})"


def _openmpi(sections):
    declared, procedures = _operators(
        lambda handle, word, kind: [(f"ompi_{handle}_op_{word[:2]}", kind, kind)])
    constants = _constants("openmpi", sections)
    types = _types("openmpi", ", bind(C)")
    return (_module("mpi_types", [], types + declared, procedures)
            + _module("mpi_f08_types", [], types + declared + constants, procedures)
            + _module("ompi_f08_objects", ["mpi_f08_types"], list(_objects(sections)))
            + _callbacks(sections))


MODULES = {"mpich": _mpich, "openmpi": _openmpi}


def modules(library, sections):
    """Of the library."""
    lines = [NOTE, f"! For lib/sinew/{library}."] + MODULES[library](sections)
    return "\n".join(part for line in lines for part in interfaces.wrap(line)) + "\n"
