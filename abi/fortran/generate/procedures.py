# SPDX-License-Identifier: BSD-3-Clause
"""The MPI standard's procedures as Fortran declares them, beside the C function that each calls.

The data are those of the C binding (abi/mpi/generate/model.py): pympistandard, MPI-5.0."""

import re
from dataclasses import dataclass, field

import model
import pympistandard

# What the data calls a procedure of the module, and has no place in it: see special.cpp.
NO_C_FUNCTION = ("mpi_f_sync_reg", "mpi_sizeof", "mpi_status_f2f08", "mpi_status_f082f")


@dataclass
class Argument:
    name: str
    type: str  # "INTEGER", "TYPE(MPI_Comm)", "TYPE(*)", "PROCEDURE(MPI_User_function)"
    intent: str  # "IN", "OUT", "INOUT", ""
    attributes: tuple  # of ASYNCHRONOUS, OPTIONAL
    shape: str  # "", "(*)", "(count)", ".."
    kind: str = ""
    info: dict = field(default_factory=dict)
    c: object = None  # model.Parameter of the same name

    @property
    def handle(self):
        """The C type of a handle, or None."""
        match = re.match(r"TYPE\((MPI_(?!Status)\w+)\)$", self.type)
        return match.group(1) if match else None

    @property
    def buffer(self):
        return self.type == "TYPE(*)"

    @property
    def text(self):
        return self.type.startswith("CHARACTER")


@dataclass
class Procedure:
    generic: str  # "MPI_Send"; of a large-count variant too, unless it needs a name of its own
    c_name: str  # "MPI_Send", "MPI_Send_c"
    arguments: list
    result: str = ""  # of a function
    c: object = None  # model.Function
    large: bool = False

    @property
    def short(self):
        return self.c_name[len("MPI_"):]

    @property
    def symbol(self):
        """Fortran's external name without prefix and underscore: "send", "send_c"."""
        return self.short.lower()

    @property
    def buffers(self):
        return [a for a in self.arguments if a.buffer]

    @property
    def texts(self):
        return [a for a in self.arguments if a.text]


def _split(text):
    """At commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return parts + [text[start:].strip()]


def _declared(lines):
    found = {}
    for line in lines:
        if line.strip().startswith("USE,") or "::" not in line:
            continue
        left, _, right = line.partition("::")
        words = _split(left.strip())
        intent = next((w[7:-1] for w in words if w.startswith("INTENT(")), "")
        shape = ".." if "DIMENSION(..)" in words else ""
        rest = tuple(w for w in words[1:] if w in ("ASYNCHRONOUS", "OPTIONAL"))
        for entity in _split(right):
            match = re.match(r"(\w+)(\(.*\))?$", entity)
            found[match.group(1).lower()] = Argument(match.group(1), words[0], intent, rest,
                                                     shape or match.group(2) or "")
    return found


def parse(text):
    """A rendered declaration: name, arguments in order, type of the result."""
    lines = text.strip().split("\n")
    if lines[0].startswith("ABSTRACT"):
        lines = lines[1:]
    match = re.match(r"\s*(.*?)\s*\b(P?MPI_\w+)\((.*)\)\s*$", lines[0])
    result, name, arguments = match.groups()
    declared = _declared(lines[1:])
    ordered = [declared.get(a.strip().lower()) or Argument(a.strip(), "INTEGER", "", (), "")
               for a in arguments.split(",") if a.strip()]
    return name, ordered, result


def _procedure(express, form, c_function, large):
    name, arguments, result = parse(str(form))
    raw = {p.name.lower(): p for p in form.parameters}
    by_c = {p.name.lower(): p for p in c_function.parameters} if c_function else {}
    for a in arguments:
        a.c = by_c.get(a.name.lower())
        if a.name.lower() in raw:
            a.info = raw[a.name.lower()]._parseset
            a.kind = a.info["kind"]
    return Procedure(name, c_function.name if c_function else name, arguments, result, c_function,
                     large)


def procedures():
    """All of mpi_f08, small and large counts, ordered by name of the C function."""
    functions = {}
    for procedure in model.procedures():
        functions[procedure.small.name.lower()] = procedure
    found = []
    for name, entry in pympistandard.PROCEDURES.items():
        express = entry.express
        if not express.f08 or name in NO_C_FUNCTION:
            continue
        c = functions[name]
        found.append(_procedure(express, express.f08, c.small, False))
        if express.embiggen and express.embiggen.f08:
            found.append(_procedure(express, express.embiggen.f08, c.large, True))
    return sorted(found, key=lambda p: p.c_name)


def callbacks():
    """The abstract interfaces: (name, arguments)."""
    found = []
    for entry in pympistandard.CALLBACKS.values():
        for express in (entry.express, entry.express.embiggen):
            if express and express.f08:
                name, arguments, _ = parse("\n".join(
                    line.replace("\t", " ") for line in str(express.f08).split("\n")[1:]))
                values = "VALUE" in str(express.f08)
                for a in arguments:
                    if values and a.type == "TYPE(C_PTR)":
                        a.attributes = ("VALUE",)
                found.append((name, arguments))
    return sorted(found, key=lambda c: c[0])
