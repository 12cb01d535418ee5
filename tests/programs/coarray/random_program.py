#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a Fortran program of random puts, gets and transfers, with its own model.

Every statement is executed by all images between two barriers, and repeated on ordinary arrays that
hold the contents of all images' coarrays; after each, the coarray must equal its model. What is
random: types, kinds, ranks, bounds, sections, strides, vector subscripts, conversions, the partner,
components of derived types, allocatable or static.

usage: random_program.py SEED [STATEMENTS] [--without-kind-10] > program.f90
"""

import random
import sys

NUMBERS = [("integer", k) for k in (1, 2, 4, 8, 16)] + [
    (t, k) for t in ("real", "complex") for k in (4, 8, 10, 16)]
LOGICALS = [("logical", k) for k in (1, 2, 4, 8)]


class Array:
    """One coarray. `where` tells how it is reached: plain, or a component of an array of a type."""

    def __init__(self, rng, number, family):
        self.name = f"v{number}"
        self.family = family
        self.length = 0
        if family == "number":
            self.type, self.kind = rng.choice(NUMBERS)
        elif family == "logical":
            self.type, self.kind = rng.choice(LOGICALS)
        else:
            self.type, self.kind = "character", rng.choice([1, 4])
            self.length = rng.choice([1, 3, 8])
        self.rank = rng.choice([0, 1, 1, 1, 2, 2, 3])
        if self.type == "complex":
            self.rank = max(1, self.rank)  # gfortran 12 loses plain assignments to scalar ones
        most = {0: 0, 1: 40, 2: 9, 3: 6}[self.rank]
        self.lower = [rng.choice([1, 1, 0, -3, 5]) for _ in range(self.rank)]
        self.extent = [rng.randint(3, most) for _ in range(self.rank)]
        self.allocatable = self.rank > 0 and rng.random() < 0.4
        # The array is of a derived type, and the values lie apart by the size of that type.
        self.component = rng.random() < 0.25

    def spell(self):
        if self.family == "character":
            return f"character(len={self.length}, kind={self.kind})"
        return f"{self.type}({self.kind})"

    def bounds(self):
        return ", ".join(f"{b}:{b + n - 1}" for b, n in zip(self.lower, self.extent))

    def declarations(self):
        """(type definitions, variables, allocations, releases)"""
        kind, types, make, free = self.spell(), [], [], []
        if self.component:
            # gfortran 12 to 14 forget where the component lies if it is not the first one.
            types = [f"  type t_{self.name}", f"    {kind} :: x", "    integer(1) :: behind = 5_1",
                     "  end type"]
            kind = f"type(t_{self.name})"
        if self.rank == 0:
            variables = [f"  {kind}, save :: {self.name}[*]"]
        elif self.allocatable:
            colons = ",".join(":" * self.rank)
            variables = [f"  {kind}, allocatable :: {self.name}({colons})[:]"]
            make = [f"  allocate ({self.name}({self.bounds()})[*])"]
            free = [f"  deallocate ({self.name})"]
        else:
            variables = [f"  {kind}, save :: {self.name}({self.bounds()})[*]"]
        model = f"{self.bounds()}, 64" if self.rank else "64"
        variables.append(f"  {self.spell()} :: m_{self.name}({model})")
        return types, variables, make, free

    def whole(self):
        return "(" + ",".join(":" * self.rank) + ")" if self.rank else ""

    def here(self, section=None):
        tail = "%x" if self.component else ""
        return self.name + (self.whole() if section is None else section) + tail

    def there(self, section, image):
        return self.name + section + f"[{image}]" + ("%x" if self.component else "")

    def model(self, section, image):
        inside = section[1:-1] + ", " if section else ""
        return f"m_{self.name}({inside}{image})"

    def value(self, seed):
        """An expression for the element with the running number i."""
        if self.family == "number":
            number = f"mod(i * {seed} + image * 13, 101)"
            if self.type == "integer":
                return f"int({number}, {self.kind})"
            if self.type == "real":
                return f"real({number}, {self.kind}) / 4"
            return f"cmplx({number}, -i, {self.kind})"
        if self.family == "logical":
            return f"logical(mod(i * {seed} + image, 3) == 0, {self.kind})"
        number = f"mod(i * {seed} + image, 26)"
        if self.kind == 1:
            return f"repeat(achar(65 + {number}), {self.length})"
        return f"repeat(char(945 + {number}, 4), {self.length})"

    def same(self, image):
        operator = ".eqv." if self.family == "logical" else "=="
        claim = f"{self.here()} {operator} {self.model(self.whole(), image)}"
        return f"logical(all({claim}))" if self.rank else f"logical({claim})"


def triplet(rng, lower, extent, count):
    """A section of `count` elements of this dimension."""
    if count == extent and rng.random() < 0.5:
        return ":"
    stride = rng.randint(1, max(1, (extent - 1) // max(1, count - 1))) if count > 1 else 1
    first = lower + rng.randint(0, extent - 1 - (count - 1) * stride)
    last = first + (count - 1) * stride
    if rng.random() < 0.25:
        first, last, stride = last, first, -stride
    return f"{first}:{last}" + ("" if stride == 1 else f":{stride}")


def vector(rng, lower, extent, count, distinct):
    places = list(range(lower, lower + extent))
    chosen = rng.sample(places, count) if distinct else rng.choices(places, k=count)
    return "[" + ", ".join(map(str, chosen)) + "]"


def section(rng, array, shape, written, vectors=True):
    """Subscripts of `array` that select `shape`; None if it does not fit."""
    if len(shape) > array.rank:
        return None
    dimensions = sorted(rng.sample(range(array.rank), len(shape)))
    words = []
    for d in range(array.rank):
        lower, extent = array.lower[d], array.extent[d]
        if d not in dimensions:
            words.append(str(lower + rng.randrange(extent)))
            continue
        count = shape[dimensions.index(d)]
        if count > extent:
            return None
        if vectors and rng.random() < 0.2:
            words.append(vector(rng, lower, extent, count, written))
        else:
            words.append(triplet(rng, lower, extent, count))
    if any(word.startswith("[") for word in words):  # beside a vector ':' stops gfortran 12
        words = [f"{lower}:{lower + extent - 1}" if word == ":" else word
                 for word, lower, extent in zip(words, array.lower, array.extent)]
    return "(" + ", ".join(words) + ")" if words else ""


def sections(rng, target, source, left_vectors=True, right_vectors=True):
    """Fitting subscripts of both, or None. Sometimes a scalar for a whole section."""
    rank = rng.randint(0, target.rank)
    shape = [rng.randint(1, target.extent[d]) for d in range(rank)]
    left = section(rng, target, shape, True, left_vectors)
    wanted = [] if rng.random() < 0.1 else shape
    right = section(rng, source, wanted, False, right_vectors)
    return None if left is None or right is None else (left, right)


def statement(rng, arrays, number):
    """(lines, the array it changes) or None."""
    target = rng.choice(arrays)
    others = [a for a in arrays if a is not target and a.family == target.family
              and (a.family != "character" or a.kind == target.kind)]
    if not others:
        return None
    source = rng.choice(others)
    kind = rng.choice(["put", "get", "expression", "transfer", "own"])
    # gfortran 12 takes vector subscripts right in plain puts and gets only, on the other image's
    # side: elsewhere it stores into wrong places or passes addresses that are not in the coarray.
    both = sections(rng, target, source, kind == "put",
                    kind in ("put", "get") and not source.component)
    if both is None:
        return None
    left, right = both
    steps, more = rng.randint(0, 3), rng.randint(0, 3)
    there = f"after({steps})"
    model_there = f"ring(image, {steps})"
    lines = [f"  ! {number}", "  sync all"]
    if kind == "put":
        lines.append(f"  {target.there(left, there)} = {source.here(right)}")
        model = (target.model(left, model_there), source.model(right, "image"))
    elif kind == "get":
        lines.append(f"  {target.here(left)} = {source.there(right, there)}")
        model = (target.model(left, "image"), source.model(right, model_there))
    elif kind == "expression" and target.family == "number":
        lines.append(f"  {target.here(left)} = {source.there(right, there)} + 1")
        model = (target.model(left, "image"), source.model(right, model_there) + " + 1")
    elif kind == "transfer":
        lines.append(f"  {target.there(left, there)} = {source.there(right, f'before({more})')}")
        model = (target.model(left, model_there), source.model(right, f"ring(image, -{more})"))
    elif kind == "own" and target.rank:
        # Both sides may be the same elements: the right one must be read first.
        both = sections(rng, target, target, False, False)
        if both is None:
            return None
        left, right = both
        lines.append(f"  {target.there(left, 'this_image()')} = "
                     f"{target.there(right, 'this_image()')}")
        model = (target.model(left, "image"), target.model(right, "image"))
    else:
        return None
    lines += ["  do image = 1, num_images()", f"    {model[0]} = {model[1]}", "  end do",
              "  sync all",
              f"  call expect({target.same('this_image()')}, '{number} ({kind})')"]
    return lines, target


def wrapped(line):
    """gfortran takes 132 columns."""
    pieces = []
    while len(line) > 110:
        cut = line.rfind(" ", 0, 110)
        pieces.append(line[:cut] + " &")
        line = "      " + line[cut + 1:]
    return pieces + [line]


def program(seed, count):
    rng = random.Random(seed)
    arrays = [Array(rng, n, family)
              for n, family in enumerate(["number"] * 7 + ["logical"] * 2 + ["character"] * 4)]
    types, variables, make, free = [], [], [], []
    for array in arrays:
        for whole, part in zip((types, variables, make, free), array.declarations()):
            whole += part
    lines = [f"! Written by random_program.py from seed {seed}.", f"program random_{seed}",
             "  use check", "  implicit none", *types, *variables, "  integer :: i, image", "",
             *make]
    for array in arrays:
        lines += ["  do image = 1, num_images()", "    i = 0"]
        indent = "    "
        subscripts = []
        for d in range(array.rank):
            lower, extent = array.lower[d], array.extent[d]
            lines.append(f"{indent}do j{d} = {lower}, {lower + extent - 1}")
            subscripts.append(f"j{d}")
            indent += "  "
        place = "(" + ", ".join(subscripts) + ")" if subscripts else ""
        lines += [f"{indent}i = i + 1",
                  f"{indent}{array.model(place, 'image')} = {array.value(rng.randint(1, 90))}"]
        for _ in range(array.rank):
            indent = indent[2:]
            lines.append(f"{indent}end do")
        lines += ["  end do", f"  {array.here()} = {array.model(array.whole(), 'this_image()')}"]
    made = 0
    while made < count:
        one = statement(rng, arrays, made + 1)
        if one:
            lines += one[0]
            made += 1
    lines += ["  sync all"]
    for array in arrays:
        lines.append(f"  call expect({array.same('this_image()')}, '{array.name} in the end')")
        if array.component:
            every = ("all({})" if array.rank else "{}")
            whole = array.name + array.whole()
            lines.append(f"  call expect({every.format(f'{whole}%behind == 5_1')}, "
                         f"'beside {array.name}')")
    lines += [*free, "  call finish()", "", "contains", "", "  integer function ring(from, steps)",
              "    integer, intent(in) :: from, steps",
              "    ring = modulo(from - 1 + steps, num_images()) + 1", "  end function",
              "end program"]
    where = lines.index("  integer :: i, image")
    lines[where] += ", j0, j1, j2"
    return "\n".join(piece for line in lines for piece in wrapped(line)) + "\n"


if __name__ == "__main__":
    if "--without-kind-10" in sys.argv:  # which only x86 has
        sys.argv.remove("--without-kind-10")
        NUMBERS[:] = [number for number in NUMBERS if number[1] != 10]
    print(program(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40), end="")
