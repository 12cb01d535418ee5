#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a Fortran program that calls every collective for every type and kind: scalars, arrays of
rank 1 to 3, sections with strides in each direction, with and without result_image, stat and
errmsg. What must come out is computed from formulas, without communication.

usage: collectives_program.py [--without-kind-10] > program.f90
"""

import sys

NUMBERS = [("integer", k) for k in (1, 2, 4, 8, 16)] + [
    (t, k) for t in ("real", "complex") for k in (4, 8, 10, 16)]
LOGICALS = [("logical", k) for k in (1, 2, 4, 8)]
WORDS = [("character", 1), ("character", 4)]

# Each image's array is filled by f(i, image); small integers, so that every order of addition gives
# the same.
HEAD = """\
subroutine {name}()
  {type} :: x(3, 4, 2), y(3, 4, 2), s, t
  integer :: p, n, me, error
  character(40) :: text
  me = this_image()
  n = num_images()
"""


def element(kind_of, kind):
    number = "mod(i * 7 + 3 * p, 4)"
    return {
        "integer": f"int({number}, {kind})",
        "real": f"real({number}, {kind}) / 2",
        "complex": f"cmplx({number}, -mod(i + p, 3), {kind})",
        "logical": f"logical(mod(i + p, 3) /= 0, {kind})",
        "character": f"repeat(char({65 if kind == 1 else 945} + mod(i * 5 + p * 3, 20), {kind}),"
                     " 3)",
    }[kind_of]


def same(a, b, kind_of, array):
    claim = f"{a} {'.eqv.' if kind_of == 'logical' else '=='} {b}"
    return f"logical(all({claim}))" if array else f"logical({claim})"


# (call of the routine for argument {x}, how two images' values join)
def operations(kind_of, kind):
    found = []
    if kind_of in ("integer", "real", "complex"):
        found.append(("co_sum({x}{more})", "{a} + {b}", "sum"))
    if kind_of in ("integer", "real"):
        found.append(("co_min({x}{more})", "min({a}, {b})", "min"))
        found.append(("co_max({x}{more})", "max({a}, {b})", "max"))
    if kind_of == "character":
        # gfortran's min and max take no characters of kind 4.
        found.append(("co_min({x}{more})", "merge({a}, {b}, {a} < {b})", "min"))
        found.append(("co_max({x}{more})", "merge({a}, {b}, {a} > {b})", "max"))
    if kind_of in ("integer", "real", "logical") or (kind_of == "complex"):
        found.append((f"co_reduce({{x}}, join_{kind_of}_{kind}{{more}})",
                      "{a} .and. {b}" if kind_of == "logical" else "{a} + {b} + 1", "reduce"))
    return found


SECTIONS = [("", "all"), ("(2, :, 1)", "a row"), ("(1:3:2, 4:1:-3, 2)", "strides"),
            ("(:, 2, :)", "planes")]


def body(kind_of, kind):
    lines = []
    for call, join, what in operations(kind_of, kind):
        joined = join.format(a="y{sec}", b="x{sec}")
        for section, label in SECTIONS:
            for result in ("", ", result_image=n", ", stat=error", ", result_image=1, stat=error"):
                more = result + (", errmsg=text" if "stat" in result else "")
                place = section or "(:,:,:)"
                lines += ["  call fill(y, 1)", "  do p = 2, n", "    call fill(x, p)",
                          f"    y{place} = " + joined.replace("{sec}", place), "  end do",
                          "  call fill(x, me)", "  error = 7",
                          "  call " + call.format(x=f"x{section}", more=more)]
                claim = f"call expect({same('x' + place, 'y' + place, kind_of, True)}, " \
                        f"'co_{what} of {kind_of}({kind}), {label}{result.replace(chr(39), '')}')"
                if "result_image=n" in result:
                    claim = "if (me == n) " + claim
                if "result_image=1" in result:
                    claim = "if (me == 1) " + claim
                lines.append("  " + claim)
                if "stat" in result:
                    lines.append(f"  call expect(error == 0, 'stat of co_{what}')")
                # What lies between the elements of the section is left alone.
                lines += ["  call fill(y, me)", f"  y{place} = x{place}",
                          f"  call expect({same('x', 'y', kind_of, True)}, "
                          f"'beside the section of co_{what}')"]
        lines += ["  call fill(y, 1)", "  s = y(2, 3, 1)", "  do p = 2, n", "    call fill(x, p)",
                  "    t = x(2, 3, 1)", "    s = " + join.format(a="s", b="t"), "  end do",
                  "  call fill(x, me)", "  t = x(2, 3, 1)", "  call " + call.format(x="t", more=""),
                  f"  call expect({same('t', 's', kind_of, False)}, "
                  f"'co_{what} of a scalar {kind_of}({kind})')"]
    for section, label in SECTIONS:
        place = section or "(:,:,:)"
        lines += ["  do p = 1, n, max(1, n - 1)", "    call fill(y, me)", "    call fill(x, p)",
                  f"    y{place} = x{place}", "    call fill(x, me)",
                  f"    call co_broadcast(x{section}, p, stat=error, errmsg=text)",
                  f"    call expect({same('x', 'y', kind_of, True)} .and. error == 0, "
                  f"'co_broadcast of {kind_of}({kind}), {label}')", "  end do"]
    return lines


def spelled(kind_of, kind):
    return f"character(len=3, kind={kind})" if kind_of == "character" else f"{kind_of}({kind})"


def subroutine(kind_of, kind):
    name, spell = f"test_{kind_of}_{kind}", spelled(kind_of, kind)
    lines = HEAD.format(name=name, type=spell).splitlines() + body(kind_of, kind)
    lines += ["contains", "  subroutine fill(a, p)",
              f"    {spell}, intent(out) :: a(3, 4, 2)",
              "    integer, intent(in) :: p", "    integer :: i, j, k, l", "    i = 0",
              "    do l = 1, 2", "    do k = 1, 4", "    do j = 1, 3", "    i = i + 1",
              f"    a(j, k, l) = {element(kind_of, kind)}",
              "    end do", "    end do", "    end do",
              "  end subroutine", "end subroutine", ""]
    return lines


def joiner(kind_of, kind):
    spell = f"{kind_of}({kind})"
    operation = "a .and. b" if kind_of == "logical" else "a + b + 1"
    return [f"pure function join_{kind_of}_{kind}(a, b) result(c)",
            f"  {spell}, intent(in) :: a, b",
            f"  {spell} :: c", f"  c = {operation}", "end function", ""]


def wrapped(line):
    pieces = []
    while len(line) > 110:
        cut = line.rfind(" ", 0, 110)
        pieces.append(line[:cut] + " &")
        line = "      " + line[cut + 1:]
    return pieces + [line]


def main():
    if "--without-kind-10" in sys.argv:  # which only x86 has
        NUMBERS[:] = [number for number in NUMBERS if number[1] != 10]
    every = NUMBERS + LOGICALS + WORDS
    lines = ["! Written by collectives_program.py.", "module tests", "  use check",
             "  implicit none", "contains"]
    for kind_of, kind in NUMBERS + LOGICALS:
        lines += joiner(kind_of, kind)
    for kind_of, kind in every:
        lines += subroutine(kind_of, kind)
    lines += ["end module", "program collectives", "  use tests", "  implicit none"]
    lines += [f"  call test_{kind_of}_{kind}()" for kind_of, kind in every]
    lines += ["  call finish()", "end program"]
    print("\n".join(piece for line in lines for piece in wrapped(line)))


if __name__ == "__main__":
    main()
