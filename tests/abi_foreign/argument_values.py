# SPDX-License-Identifier: BSD-3-Clause
"""What each kind of argument is in the standard ABI and in a library's: argument_values.tsv, and
which kind an argument is by the standard's data."""

import csv
import pathlib
import re
from dataclasses import dataclass

TABLE = pathlib.Path(__file__).with_name("argument_values.tsv")
HANDLE = re.compile(r"\bMPI_(Comm|Datatype|Errhandler|File|Group|Info|Message|Op|Request|Session"
                    r"|Win)\b")
MADE = re.compile(r"object(\d+)")  # what is no constant

# The standard's kinds whose numbers have names.
NUMBERS = {
    "RANK": "rank", "RANK_NNI": "rank", "TAG": "tag", "KEYVAL": "keyval", "ERROR_CODE": "error",
    "ERROR_CLASS": "error", "LOCK_TYPE": "lock", "SPLIT_TYPE": "split", "COMBINER": "combiner",
    "ORDER": "order", "DISTRIB_ENUM": "distribution",
    "DTYPE_DISTRIBUTION": "distribution_argument", "UPDATE_MODE": "whence",
    "TYPECLASS": "typeclass", "THREAD_LEVEL": "thread", "TOPOLOGY_TYPE": "topology",
    "COMM_COMPARISON": "comparison", "GROUP_COMPARISON": "comparison", "PVAR_CLASS": "pvar_class",
    "VARIABLE_SCOPE": "scope", "TOOL_VAR_VERBOSITY": "verbosity", "BIND_TYPE": "bind",
    "CALLBACK_SAFETY": "safety", "SOURCE_ORDERING": "source_order", "ACCESS_MODE": "access",
    "ASSERT": "assert",
}
BITS = ("access", "assert")
# What is no constant: a job's exit code, which the shell gets as the program says it; ranks in
# groups' ranges, and of edges (their number is in no argument).
PLAIN = {("Abort", "errorcode"),
         ("Group_range_incl", "ranges"), ("Group_range_excl", "ranges"),
         ("Graph_create", "edges"), ("Graph_map", "edges"), ("Dist_graph_create", "destinations")}
# Texts whose room the standard states, but not its data.
ROOM = {("Info_get_nthkey", "key"): "MAX_INFO_KEY",
        ("File_get_view", "datarep"): "MAX_DATAREP_STRING"}
# Numbers beside the constants that go through unchanged.
PASSED = {"rank": 6, "tag": 7, "keyval": 5000, "distribution_argument": 8}


@dataclass(frozen=True)
class Value:
    name: str
    standard: int
    foreign: object  # a number, "@object", None

    @property
    def differs(self):
        return self.foreign is not None and self.foreign != self.standard


def kind_of(function, p):
    """The kind in the table, or None where all ABIs pass the same."""
    if (function.short, p.name) in PLAIN or function.short == "Get_address":
        return None
    handle = HANDLE.search(p.base)
    if handle:
        return handle.group(1)
    if p.kind == "OFFSET" and function.short == "File_set_view":
        return "view_offset"
    if p.kind == "PVAR" and not p.base.endswith("*"):
        return "pvar"
    special = {"BUFFER": "buffer", "C_BUFFER2": "buffer", "WEIGHT": "weights", "STATUS": "status"}
    return special.get(p.kind) or NUMBERS.get(p.kind)


class Values:
    """The values of one library by their kinds; of its objects those alone that `declares` has."""

    def __init__(self, library, declares=lambda name: True):
        self.library, self.kinds, self.limits = library, {}, {}
        lines = [line for line in open(TABLE, encoding="ascii") if not line.startswith("#")]
        for row in csv.DictReader(lines, delimiter="\t"):
            text = row[library]
            if text.startswith("@"):
                foreign = text if declares(text[1:]) else None
            else:
                foreign = None if text == "-" else int(text)
            if row["kind"] == "limit":
                self.limits[row["name"]] = (int(row["standard"]), foreign)
                continue
            self.kinds.setdefault(row["kind"], []).append(
                Value(row["name"], int(row["standard"]), foreign))
        if library == "mpich":  # objects of the library
            self.kinds["weights"] = [Value(v.name, v.standard, "MPI_" + v.name)
                                     for v in self.kinds["weights"]]
            self.kinds["pvar"] = [Value(v.name, v.standard, "MPI_" + v.name)
                                  for v in self.kinds["pvar"]]
        last, = self.kinds.pop("last_code")
        self.kinds["error"].append(Value("one of the program", last.standard + 5, last.foreign + 5))
        for kind, number in PASSED.items():
            self.kinds[kind].append(Value("a plain number", number, number))
        for kind in [k for k in self.kinds if HANDLE.match("MPI_" + k)]:
            self.kinds[kind].append(Value("object9", -1, "object9"))
        self.standard = {k: {v.standard for v in vs} for k, vs in self.kinds.items()}

    def known(self, kind):
        """The values that the library has; of two names of one value the first."""
        seen = {}
        for value in self.kinds[kind]:
            if value.foreign is not None:
                seen.setdefault((value.standard, value.foreign), value)
        return list(seen.values())

    def meaningless(self, kind):
        """A number that is a constant of the standard's, but none of the library's."""
        foreign = {v.foreign for v in self.kinds[kind]}
        return next((n for n in sorted(self.standard[kind]) if n not in foreign), None)

    def expression(self, kind, foreign):
        """In the program, by the library's own types."""
        made = MADE.match(str(foreign))
        if made and self.library == "mpich" and kind != "File":
            return str(self.number(kind, foreign))
        if made:
            return f"&objects[{made.group(1)}]"
        return str(foreign).replace("@", "&")

    def number(self, kind, foreign):
        """MPICH's integer of an object: made ones have the kind's bits of the null handle."""
        null = next(v.foreign for v in self.kinds[kind] if v.name.endswith("_NULL"))
        bits = 2 << 30 | (null >> 26 & 15) << 26 | 0x1000 + int(MADE.match(foreign).group(1))
        return bits - 2**32

    def shown(self, kind, foreign):
        """As the program prints it."""
        if MADE.match(str(foreign)) and self.library == "mpich" and kind != "File":
            return str(self.number(kind, foreign))
        return str(foreign).lstrip("@")
