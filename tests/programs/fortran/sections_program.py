# SPDX-License-Identifier: BSD-3-Clause
"""Writes a program that passes random array sections by mpi_f08: sections_program.py SEED CASES.

Each case sends a section round the ring and receives it into another section of the same shape;
what arrives is compared with what Fortran's own assignment does, and what lies between the
elements must not change. Collectives and reductions take sections too."""

import random
import sys

TYPES = [("integer", "MPI_INTEGER", "{0}"), ("real(8)", "MPI_REAL8", "real({0}, 8)"),
         ("complex", "MPI_COMPLEX", "cmplx({0}, -({0}))"),
         ("integer(1)", "MPI_INTEGER1", "int(mod({0}, 100), 1)"),
         ("character(len=5)", "MPI_CHARACTER", "text({0})"),
         ("pair", "pair_type", "pair({0}, real({0}, 8))")]

HEAD = """\
module helpers
  use mpi_f08
  implicit none
  type, bind(C) :: pair
    integer :: i
    real(8) :: x
  end type
  interface operator(/=)
    module procedure differ
  end interface
contains
  elemental logical function differ(a, b)
    type(pair), intent(in) :: a, b
    differ = a%i /= b%i .or. a%x /= b%x
  end function
  elemental character(len=5) function text(i)
    integer, intent(in) :: i
    write (text, '(i5)') mod(i, 10000)
  end function
  subroutine wrong(what)
    character(len=*), intent(in) :: what
    print '(a)', 'wrong: ' // what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end module

program sections
  use helpers
  implicit none
  integer :: rank, ranks, up, down, i
  type(MPI_Datatype) :: pair_type, fields
  integer(MPI_ADDRESS_KIND) :: lower, extent
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  up = mod(rank + 1, ranks)
  down = mod(rank + ranks - 1, ranks)
  call MPI_Type_create_struct(2, [1, 1], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], &
      [MPI_INTEGER, MPI_REAL8], fields)
  lower = 0
  extent = 16
  call MPI_Type_create_resized(fields, lower, extent, pair_type)
  call MPI_Type_commit(pair_type)
"""


def section(rng, lengths):
    """Subscripts, and how many each selects."""
    words, counts = [], []
    for length in lengths:
        if rng.random() < 0.15:
            words.append(str(rng.randint(1, length)))
            continue
        step = rng.choice([1, 1, 2, 3, -1, -2])
        count = rng.randint(1, max(1, (length - 1) // abs(step) + 1))
        first = rng.randint(1, length - (count - 1) * abs(step))
        last = first + (count - 1) * abs(step)
        first, last = (first, last) if step > 0 else (last, first)
        words.append(f"{first}:{last}:{step}")
        counts.append(count)
    return words, counts


def fitting(rng, counts, rank):
    """An array of `rank` dimensions and a section of it with the same counts."""
    lengths, words = [], []
    drop = rank - len(counts)
    places = sorted(rng.sample(range(rank), drop))
    left = iter(counts)
    for d in range(rank):
        if d in places:
            length = rng.randint(1, 3)
            lengths.append(length)
            words.append(str(rng.randint(1, length)))
            continue
        count = next(left)
        step = rng.choice([1, 1, 2, -1, -3])
        length = (count - 1) * abs(step) + 1 + rng.randint(0, 2)
        first = rng.randint(1, length - (count - 1) * abs(step))
        last = first + (count - 1) * abs(step)
        first, last = (first, last) if step > 0 else (last, first)
        lengths.append(length)
        words.append(f"{first}:{last}:{step}")
    return lengths, words


def case(rng, number):
    kind, mpi, value = rng.choice(TYPES)
    rank = rng.randint(1, 7)
    lengths = [rng.randint(1, 7 if rank < 4 else 4) for _ in range(rank)]
    words, counts = section(rng, lengths)
    to_lengths, to_words = fitting(rng, counts, rng.randint(max(1, len(counts)), 7))
    a, b = (", ".join(map(str, n)) for n in (lengths, to_lengths))
    source, target = f"a({', '.join(words)})", f"b({', '.join(to_words)})"
    total = 1
    for count in counts:
        total *= count
    size = lambda numbers: eval("*".join(map(str, numbers)))  # noqa: E731
    per = 5 if mpi == "MPI_CHARACTER" else 1
    part = rng.choice([total, total, rng.randint(1, total)])
    way = rng.choice(["sendrecv", "isend", "persistent", "pack"])
    lines = ["  block",
             f"    {type_of(kind)} :: a({a}), b({b}), want({b}), line({total}), got({total})",
             "    type(MPI_Request) :: r(2)",
             f"    a = reshape([({value.format(f'i + {number}')}, i = 1, {size(lengths)})], [{a}])",
             f"    b = reshape([({value.format('-i')}, i = 1, {size(to_lengths)})], [{b}])",
             "    want = b",
             f"    want({', '.join(to_words)}) = {source}"]
    if part != total:  # the rest of the section stays
        lines += ["    want = b",
                  f"    line = {flat(source, counts, total)}",
                  f"    got = {flat(target, counts, total)}",
                  f"    got(1:{part}) = line(1:{part})"]
        lines += spread(f"want({', '.join(to_words)})", counts, "got")
    if way == "sendrecv":
        lines += [f"    call MPI_Sendrecv({source}, {part * per}, {mpi}, up, 1, {target}, &",
                  f"        {part * per}, {mpi}, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)"]
    elif way == "isend":
        lines += [f"    call MPI_Irecv({target}, {part * per}_MPI_COUNT_KIND, {mpi}, down, 2, &",
                  "        MPI_COMM_WORLD, r(1))",
                  f"    call MPI_Isend({source}, {part * per}, {mpi}, up, 2, MPI_COMM_WORLD, r(2))",
                  "    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)"]
    elif way == "persistent":
        lines += [f"    call MPI_Recv_init({target}, {part * per}, {mpi}, down, 3, &",
                  "        MPI_COMM_WORLD, r(1))",
                  f"    call MPI_Send_init({source}, {part * per}, {mpi}, up, 3, &",
                  "        MPI_COMM_WORLD, r(2))",
                  "    call MPI_Startall(2, r)", "    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)",
                  "    call MPI_Request_free(r(1))", "    call MPI_Request_free(r(2))"]
    else:
        lines += ["    block", f"      character :: bytes({total * 16})", "      integer :: at",
                  "      at = 0",
                  f"      call MPI_Pack({source}, {part * per}, {mpi}, bytes, {total * 16}, at, &",
                  "          MPI_COMM_WORLD)", "      at = 0",
                  f"      call MPI_Unpack(bytes, {total * 16}, at, {target}, &",
                  f"          {part * per}, {mpi}, MPI_COMM_WORLD)", "    end block"]
    return lines + [f"    if (any(b /= want)) call wrong('case {number}, {way}: {mpi}')",
                    "  end block"]


def wrapped(line):
    """In lines of at most 100 columns, broken after commas."""
    while len(line) > 100:
        cut = line.rfind(", ", 0, 98)
        yield line[:cut + 1] + " &"
        line = "        " + line[cut + 2:]
    yield line


def type_of(kind):
    return "type(pair)" if kind == "pair" else kind


def flat(expression, counts, total):
    return f"reshape({expression}, [{total}])" if counts else f"[{expression}]"


def spread(target, counts, line):
    if not counts:
        return [f"    {target} = {line}(1)"]
    return [f"    {target} = reshape({line}, [{', '.join(map(str, counts))}])"]


def collective(rng, number):
    n, step = rng.randint(1, 5), rng.choice([2, 3])
    return f"""\
  block
    integer :: a({step}, {n}), all({step}, {n} * ranks), sums({step}, {n}), want({n})
    integer, allocatable :: counts(:), places(:)
    a = -1
    a(2, :) = [(i + 100 * rank + {number}, i = 1, {n})]
    all = -2
    call MPI_Allgather(a(2, :), {n}, MPI_INTEGER, all(1, :), {n}, MPI_INTEGER, MPI_COMM_WORLD)
    do i = 0, ranks - 1
      if (any(all(1, {n} * i + 1:{n} * (i + 1)) /= a(2, :) - 100 * rank + 100 * i)) &
        call wrong('allgather of case {number}')
    end do
    if (any(all(2:, :) /= -2)) call wrong('allgather of case {number} between the elements')
    counts = [({n}, i = 1, ranks)]
    places = [({n} * (ranks - i), i = 1, ranks)]
    all = -2
    call MPI_Gatherv(a(2, :), {n}, MPI_INTEGER, all(2, :), counts, places, MPI_INTEGER, 0, &
        MPI_COMM_WORLD)
    if (rank == 0) then
      if (any(all(2, {n} * (ranks - 1) + 1:) /= a(2, :))) call wrong('gatherv of case {number}')
      if (any(all(1, :) /= -2)) call wrong('gatherv of case {number} between the elements')
    end if
    sums = -3
    call MPI_Allreduce(a(2, :), sums(1, :), {n}, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    want = [(ranks * (i + {number}) + 100 * (ranks * (ranks - 1)) / 2, i = 1, {n})]
    if (any(sums(1, :) /= want)) call wrong('allreduce of case {number}')
    if (any(sums(2:, :) /= -3)) call wrong('allreduce of case {number} between the elements')
    call MPI_Bcast(a(2, :), {n}, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD)
    if (any(a(2, :) /= [(i + 100 * (ranks - 1) + {number}, i = 1, {n})])) &
      call wrong('bcast of case {number}')
    if (any(a(1, :) /= -1)) call wrong('bcast of case {number} between the elements')
  end block""".split("\n")


def main():
    seed, cases = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    lines = [f"! Seed {seed}, {cases} cases."] + HEAD.split("\n")
    for number in range(cases):
        lines += case(rng, number) if number % 4 else collective(rng, number)
    lines += ["  if (rank == 0) print '(a)', 'good'", "  call MPI_Finalize()", "end program"]
    print("\n".join(part for line in lines for part in wrapped(line)))


if __name__ == "__main__":
    main()
