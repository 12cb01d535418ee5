# SPDX-License-Identifier: BSD-3-Clause
"""The MPI standard's procedures as pairs of C functions: the small and the large-count one.

The data come from the package pympistandard (the MPI Forum's own extract of MPI-5.0)."""

import re
from dataclasses import dataclass, field

import pympistandard

# The converters to and from Fortran integers by MPI_Fint are no part of the standard ABI: it has
# the *_toint and *_fromint functions in their stead.
NOT_IN_THE_ABI = re.compile(r"MPI_\w+_(c2f|f2c|c2f08|f082c|f082f|f2f08)$")

# Variants that the Forum's header has and the data lacks: the plain one already counts large.
LARGE_TWINS_MISSING = ("MPI_Psend_init", "MPI_Precv_init")


@dataclass
class Parameter:
    name: str
    base: str  # "const void*", "int", "MPI_Request"
    array: str  # "", "[]", "[][3]"
    kind: str
    length: object = None
    direction: str = "in"
    root_only: bool = False

    @property
    def declaration(self):
        return f"{self.base} {self.name}{self.array}"

    @property
    def type(self):
        return self.base + self.array


@dataclass
class Function:
    name: str
    result: str
    parameters: list = field(default_factory=list)
    variadic: bool = False

    @property
    def signature(self):
        words = [p.declaration for p in self.parameters]
        if self.variadic:
            words.append("...")
        return ", ".join(words) or "void"

    @property
    def short(self):
        return self.name[len("MPI_"):]


@dataclass
class Procedure:
    """`large` is None where there is no large-count variant."""

    small: Function
    large: Function = None
    deprecated: bool = False

    @property
    def split(self):
        """The two variants differ in more than widths: each has an implementation of its own."""
        if self.large is None:
            return False
        if len(self.small.parameters) != len(self.large.parameters):
            return True
        return any(p.kind == "POLYFUNCTION" for p in self.small.parameters)


def _parameter(raw):
    text = str(raw).replace("char argv[]", "char* argv[]")  # the data's one wrong declaration
    match = re.match(r"(.*?)\s*\b(\w+)((?:\[\w*\])*)$", text)
    base, name, array = match.groups()
    kind = raw._parseset["kind"]
    if kind in ("STATUS", "WEIGHT") and array:
        base, array = base + "*", ""  # may be given an address that is no array
    return Parameter(name, base.replace(" *", "*"), array, kind,
                     raw._parseset["length"], raw._parseset["param_direction"],
                     bool(raw._parseset["root_only"]))


def _function(express):
    result = str(express).split("MPI_" + express.name[4:])[0].strip()
    function = Function(express.name, result)
    for raw in express.parameters:
        if raw.kind.name == "VARARGS":
            function.variadic = True
        else:
            function.parameters.append(_parameter(raw))
    return function


def procedures():
    """Every procedure of the C ABI, ordered by name."""
    pympistandard.use_api_version()
    found = []
    for entry in pympistandard.all_iso_c_procedures():
        small = entry.express.iso_c
        if NOT_IN_THE_ABI.match(small.name):
            continue
        large = entry.express.embiggen.iso_c if entry.express.embiggen else None
        procedure = Procedure(_function(small), _function(large) if large else None)
        if procedure.small.name in LARGE_TWINS_MISSING:
            procedure.large = Function(procedure.small.name + "_c", procedure.small.result,
                                       procedure.small.parameters)
        found.append(procedure)
    return sorted(found, key=lambda p: p.small.name)


def callbacks():
    """Declarations of the callback function types, large-count variants included."""
    lines = []
    for entry in pympistandard.CALLBACKS.values():
        forms = [entry.express.iso_c]
        if entry.express.embiggen and entry.express.embiggen.iso_c:
            forms.append(entry.express.embiggen.iso_c)
        lines += [re.sub(r"\\ldots", "...", str(f)).rstrip(";") + ";" for f in forms]
    return sorted(lines)


def constants(path):
    """The sections of constants.txt as (kind, title, [(name, value)])."""
    sections = []
    for line in open(path, encoding="ascii"):
        line = line.split("#")[0].strip()
        if line.startswith("["):
            kind, _, title = line[1:-1].partition(" ")
            sections.append((kind, title, []))
        elif line:
            name, value = line.split()
            sections[-1][2].append(("MPI_" + name, value))
    return sections
