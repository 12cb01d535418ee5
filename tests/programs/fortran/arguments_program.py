#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""arguments_program.py FOLDER: programs that call every procedure of MPI in Fortran, a library that
writes down what arrives in C, and what it must write.

Made from the standard's data, as the modules are, so it needs pympistandard. Writes recorder.c (a
libmpi_abi.so.1 whose functions print their arguments and give values back), and for each interface
<interface>.f90 and <interface>.expected. Left out are the procedures that are written by hand
(BY_HAND in bodies.py): other programs here call them."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
for generator in ("abi/fortran/generate", "abi/mpi/generate"):
    sys.path.insert(0, str(HERE.parents[2] / generator))

import bodies  # noqa: E402
import model  # noqa: E402
import procedures  # noqa: E402

INTERFACES = ("mpi_f08", "mpi", "mpif.h")
WIDE = {"INTEGER(KIND=MPI_ADDRESS_KIND)": "MPI_ADDRESS_KIND",
        "INTEGER(KIND=MPI_COUNT_KIND)": "MPI_COUNT_KIND",
        "INTEGER(KIND=MPI_OFFSET_KIND)": "MPI_OFFSET_KIND"}
INTEGERS = ("int", "MPI_Count", "MPI_Aint", "MPI_Offset")
HANDLES = ("Comm Datatype Errhandler File Group Info Message Op Request Session Win").split()
MANY = 2  # what every length is

RECORDER = """\
/* Generated: prints the arguments of each call, and gives back values that tell the arguments. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int cells[64];

static void number(const char* name, long long value) { printf(" %s=%lld", name, value); }
static void say_address(const char* name, const void* at) {
  const char* first = (const char*)cells;
  const char* here = at;
  if (here >= first && here < first + sizeof cells) {
    printf(" %s=cells+%d", name, (int)(here - first));
  } else {
    printf(" %s=%lld", name, (long long)(intptr_t)at);
  }
}
void got(int place, long long value) { printf("  %d: %lld\\n", place, value); }
void got_text(int place, const char* text, int length) {
  printf("  %d: '%.*s'\\n", place, length, text);
}
"""

# What the conversions themselves ask: two ranks, two dimensions.
ASKED = {"MPI_Comm_size": "*size = 2;", "MPI_Comm_remote_size": "*size = 2;",
         "MPI_Comm_test_inter": "*flag = 0;", "MPI_Topo_test": "*status = MPI_CART;",
         "MPI_Cartdim_get": "*ndims = 2;"}

HEAD = """\
module recorded
{use}
implicit none
{include}
integer, bind(C, name="cells") :: cell(64)
interface
  subroutine got(place, value) bind(C)
    use, intrinsic :: iso_c_binding
    integer(c_int), value :: place
    integer(c_long_long), value :: value
  end subroutine
  subroutine got_text(place, text, length) bind(C)
    use, intrinsic :: iso_c_binding
    integer(c_int), value :: place, length
    character(kind=c_char) :: text(*)
  end subroutine
end interface
contains
"""


# --- C -------------------------------------------------------------------------------------------

def base_of(parameter):
    return parameter.base.replace("const ", "")


def record(at, parameter):
    """C statements that print one parameter, and those that give a value back."""
    name, base, constant = parameter.name, base_of(parameter), parameter.base.startswith("const")
    if base in INTEGERS and not parameter.array:
        return f'number("{name}", {name});', ""
    if re.fullmatch(r"MPI_(" + "|".join(HANDLES) + ")", base) and not parameter.array:
        return f'number("{name}", (intptr_t){name});', ""
    if base == "char" or base == "char*" and not parameter.array:
        if constant:
            return f'printf(" {name}=\'%s\'", {name});', ""
        return "", f'strcpy({name}, "text{at}");'
    if parameter.kind == "STATUS" or base == "MPI_Status*":
        if constant:
            return f'number("{name}", {name}->MPI_TAG);', ""
        return "", f"if ({name}) {{ {name}->MPI_TAG = {3000 + at}; }}"
    if base == "void*" or base == "void":
        if parameter.direction == "out" and parameter.kind.startswith("C_BUFFER"):
            return "", f"*(void**){name} = (void*)(intptr_t){4000 + at};"
        return f'say_address("{name}", {name});', ""
    return _record_several(at, parameter, base)


def _record_several(at, parameter, base):
    """Arrays, and what is passed by address."""
    name = parameter.name
    if "*" in base.rstrip("*") + parameter.array or base.startswith("char") or "function" in base:
        return "", ""
    if parameter.array == "[][3]":
        return "".join(f'number("{name}", {name}[{i}][{k}]);' for i in (0, 1) for k in range(3)), ""
    handle = base.startswith("MPI_") and base.rstrip("*") not in INTEGERS
    kind = base.rstrip("*")
    shown = f"(intptr_t){name}[{{}}]" if handle else f"{name}[{{}}]"
    several = bool(parameter.array) or parameter.kind == "WEIGHT"
    said = "".join(f'number("{name}", {shown.format(i)});' for i in range(MANY if several else 1))
    value = "({})(intptr_t){}" if handle else "({}){}"
    first = (2000 if handle else 1000) + at
    if name.lower() == "outcount":
        first = MANY
    given = "".join(f"{name}[{i}] = {value.format(kind, first + i)};"
                    for i in range(MANY if several else 1))
    if parameter.kind == "LOGICAL":
        given = f"{name}[0] = 1;" + (f"{name}[1] = 0;" if several else "")
    return (said if parameter.direction != "out" else "",
            given if parameter.direction != "in" and not parameter.base.startswith("const") else "")


def recorder():
    lines = [RECORDER]
    for pair in model.procedures():
        for f in (pair.small, pair.large):
            if not f:
                continue
            # The tools' functions have no Fortran.
            both = [("", "") if f.name.startswith("MPI_T_") else record(at, p)
                    for at, p in enumerate(f.parameters)]
            result = {"int": "0", "double": "1.5"}.get(f.result, f"({f.result})1")
            lines += [f"{f.result} {f.name}({f.signature}) {{", f'  printf("{f.name}");',
                      *("  " + said for said, _ in both if said), '  printf("\\n");',
                      *("  " + given for _, given in both if given),
                      f"  return {result};", "}",
                      f"{f.result} P{f.name}({f.signature}) {{ {ASKED.get(f.name, '')} "
                      f"return {result}; }}"]
    return "\n".join(lines) + "\n"


# --- Fortran -------------------------------------------------------------------------------------

class Call:
    """One procedure in one interface: its subroutine, and what must be written."""

    def __init__(self, procedure, interface):
        self.procedure, self.f08 = procedure, interface == "mpi_f08"
        self.declared, self.before, self.passed, self.after = [], [], [], []
        self.said, self.got = {}, []
        lengths = " ".join(f"{a.shape} {a.info.get('length', '')}" for a in procedure.arguments)
        self.lengths = set(re.findall(r"[a-z_]\w*", lengths.lower())) | {
            "count", "incount", "outcount", "indegree", "outdegree"}
        self.places = {p.name.lower(): at for at, p in enumerate(procedure.c.parameters)}
        for argument in procedure.arguments:
            self.add(argument)

    def variable(self, kind, place, shape=""):
        name = f"v{place}"
        self.declared.append(f"  {kind} :: {name}{shape}")
        self.passed.append(name)
        return name

    def add(self, a):
        name = a.name.lower()
        if name == "ierror":
            self.declared.append("  integer :: ierror")
            self.before.append("  ierror = -1")
            self.passed.append("ierror")
            self.after.append("  call got(-1, int(ierror, 8))")
            self.got.append("  -1: 0")
            return
        at = self.places[name]
        if a.buffer:
            self.passed.append(f"cell({at + 1})")
            self.said[name] = [f"cells+{4 * at}"]
        elif a.text:
            self.text(a, at)
        elif a.type == "TYPE(MPI_Status)":
            self.status(a, at)
        elif a.type == "TYPE(C_PTR)":
            self.pointer(at)
        elif a.handle:
            self.handle(a, at)
        elif a.type == "LOGICAL":
            self.logical(a, at)
        else:
            self.integer(a, at)

    def text(self, a, at):
        if a.intent == "IN":
            self.passed.append(f"' word{at}  '")
            blank = "" if self.procedure.c_name.startswith("MPI_Info_") else " "
            self.said[a.name.lower()] = [f"'{blank}word{at}'"]
            return
        variable = self.variable("character(9000)", at)
        self.after.append(f"  call got_text({at}, {variable}, len_trim({variable}))")
        self.got.append(f"  {at}: 'text{at}'")

    def status(self, a, at):
        kind = "type(MPI_Status)" if self.f08 else "integer"
        shape = "(4)" if a.shape else ""
        if not self.f08:
            shape = "(MPI_STATUS_SIZE, 4)" if a.shape else "(MPI_STATUS_SIZE)"
        variable = self.variable(kind, at, shape)
        one = variable + ("(1)" if a.shape else "") if self.f08 else variable
        tag = (f"{one}%MPI_TAG" if self.f08
               else f"{variable}(MPI_TAG{', 1' if a.shape else ''})")
        self.before.append(f"  {tag} = {700 + at}")
        if a.intent == "IN":
            self.said[a.name.lower()] = [700 + at]
        else:
            self.after.append(f"  call got({at}, int({tag}, 8))")
            self.got.append(f"  {at}: {3000 + at}")

    def pointer(self, at):
        if self.f08:
            variable = self.variable("type(c_ptr)", at)
            self.after.append(f"  call got({at}, transfer({variable}, 0_8))")
        else:
            variable = self.variable("integer(MPI_ADDRESS_KIND)", at)
            self.after.append(f"  call got({at}, int({variable}, 8))")
        self.got.append(f"  {at}: {4000 + at}")

    def handle(self, a, at):
        kind = "type(" + a.type[5:] if self.f08 else "integer"
        make = (lambda v: f"{a.handle}({v})") if self.f08 else str
        values = [500 + 10 * at + i for i in range(4)]
        if a.intent == "IN" and not a.c.base.endswith("*"):
            several = "[" + ", ".join(make(v) for v in values) + "]"
            self.passed.append(several if a.shape else make(values[0]))
            self.said[a.name.lower()] = values[:MANY if a.shape else 1]
            return
        variable = self.variable(kind, at, "(4)" if a.shape else "")
        if a.intent != "OUT":
            self.before.append(f"  {variable} = " + (
                "[" + ", ".join(make(v) for v in values) + "]" if a.shape else make(values[0])))
            if a.c.direction != "out":
                self.said[a.name.lower()] = values[:MANY if a.shape else 1]
        one = variable + ("(2)" if a.shape else "") + ("%MPI_VAL" if self.f08 else "")
        wanted = 2000 + at + (1 if a.shape else 0)
        if a.c.direction == "in":  # MPI_Cancel's request, say
            wanted = values[1 if a.shape else 0]
        self.after.append(f"  call got({at}, int({one}, 8))")
        self.got.append(f"  {at}: {wanted}")

    def logical(self, a, at):
        if a.intent == "IN":
            self.passed.append("[.true., .false., .true., .true.]" if a.shape else ".true.")
            self.said[a.name.lower()] = [1, 0] if a.shape else [1]
            return
        variable = self.variable("logical", at, "(4)" if a.shape else "")
        self.before.append(f"  {variable} = .false.")
        one = variable + ("(1)" if a.shape else "")
        self.after.append(f"  call got({at}, merge(1_8, 0_8, {one}))")
        self.got.append(f"  {at}: 1")

    def integer(self, a, at):
        kind = WIDE.get(a.type)
        suffix = f"_{kind}" if kind else ""
        name = a.name.lower()
        first = MANY if name in self.lengths and not a.shape else 20 + 10 * at
        if kind and first != MANY:
            first += 2 ** 33
        values = [first + i for i in range(6)]
        if a.c.array == "[][3]":
            self.passed.append("reshape([" + ", ".join(map(str, values)) + "], [3, 2])")
            self.said[name] = values
        elif a.intent == "IN":
            several = "[" + ", ".join(f"{v}{suffix}" for v in values[:4]) + "]"
            self.passed.append(several if a.shape else f"{first}{suffix}")
            self.said[name] = values[:MANY if a.shape else 1]
        else:
            self.variable_integer(a, at, kind, values)

    def variable_integer(self, a, at, kind, values):
        variable = self.variable(f"integer({kind})" if kind else "integer", at,
                                 "(16)" if a.shape else "")
        if a.intent == "INOUT":
            self.before.append(f"  {variable} = {values[0]}" + (f"_{kind}" if kind else ""))
            if a.c.direction != "out":
                self.said[a.name.lower()] = [values[0]] * (MANY if a.shape else 1)
        wanted = MANY if a.name.lower() == "outcount" else 1000 + at
        if a.kind == "INDEX" and ("equest" in self.procedure.c_name or any(
                "equest" in b.name for b in self.procedure.arguments)):
            wanted += 1  # Fortran counts from 1
        self.after.append(f"  call got({at}, int({variable}{'(1)' if a.shape else ''}, 8))")
        self.got.append(f"  {at}: {wanted}")

    # As the recorder prints: in the order of C's parameters.
    def expected(self):
        words = [self.procedure.c_name]
        for parameter in self.procedure.c.parameters:
            for value in self.said.get(parameter.name.lower(), []):
                words.append(f"{parameter.name}={value}")
        return [" ".join(words), *self.got]

    def lines(self, number):
        name = self.procedure.generic
        if self.procedure.result:
            self.declared.append(f"  {self.procedure.result} :: answer")
            statement = f"  answer = {name}("
            value = "1.5" if "DOUBLE" in self.procedure.result else "1"
            self.after.append(f"  call got(-2, merge(1_8, 0_8, answer == {value}))")
            self.got.append("  -2: 1")
        else:
            statement = f"  call {name}("
        last = f"  {self.passed[-1]})" if self.passed else "  )"
        return [f"subroutine s{number}()", *self.declared, *self.before, statement + " &",
                *(f"    {one}, &" for one in self.passed[:-1]), last, *self.after,
                "end subroutine"]


def chosen(interface):
    """The procedures of an interface that a call can be written for."""
    seen = set()
    for p in procedures.procedures():
        by_hand = p.short in bodies.BY_HAND or any(
            a.type.startswith("PROCEDURE") for a in p.arguments)
        several_texts = any(a.text and a.shape for a in p.arguments)
        types = (p.generic,) + tuple((re.sub(r"MPI_\w+_KIND", "8", a.type), a.shape)
                                     for a in p.arguments)
        if not (by_hand or several_texts or types in seen or p.large and interface != "mpi_f08"):
            yield p
        seen.add(types)


def program(interface):
    use = f"use {interface}" if interface != "mpif.h" else ""
    use += "\nuse, intrinsic :: iso_c_binding, only: c_ptr"
    include = "include 'mpif.h'" if interface == "mpif.h" else ""
    calls = [Call(p, interface) for p in chosen(interface)]
    text = [HEAD.format(use=use, include=include)]
    for number, call in enumerate(calls):
        text += call.lines(number)
    text += ["end module", "program arguments", "use recorded"]
    text += [f"call s{number}()" for number in range(len(calls))] + ["end program", ""]
    return "\n".join(text), "".join(line + "\n" for c in calls for line in c.expected())


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recorder.c").write_text(recorder())
    for interface in INTERFACES:
        text, expected = program(interface)
        name = interface.replace(".h", "_h")
        (folder / f"{name}.f90").write_text(text)
        (folder / f"{name}.expected").write_text(expected)
        calls = len(re.findall("^MPI_", expected, re.M))
        print(f"{interface}: {calls} calls")
        if calls < 380:
            raise SystemExit("too few: the choice is broken")


if __name__ == "__main__":
    main()
