! SPDX-License-Identifier: BSD-3-Clause
! What random_program.py does not reach: coarrays of derived types as a whole, text of unequal
! lengths, sections through dummy arguments and pointers to coarrays' memory, arrays of 7 dimensions.
module kinds
  implicit none
  type particle
    real(8) :: place(3)
    integer :: tag
    character(5) :: name
  end type
end module

program moves
  use check
  use kinds
  implicit none
  type(particle), save :: cloud(10)[*]
  character(9), save :: long(4)[*]
  character(3), save :: short(4)[*]
  character(4, 4), save :: wide(2)[*]
  real(4), save, target :: field(8, 9)[*]
  integer, save :: deep(2, 3, 2, 2, 3, 2, 2)[*]
  real(4), pointer :: part(:, :)
  real(4) :: copy(4, 3), line(4)
  integer, allocatable :: grown(:)
  integer :: i, k, me, four(4)
  integer(1) :: tiny(3)
  integer(8) :: huge_index(3)

  me = this_image()
  do i = 1, 10
    cloud(i) = particle([real(8) :: i, me, i * me], i + 100 * me, 'p' // achar(48 + me))
  end do
  long = 'abcdefghi'
  short = 'xyz'
  wide = 4_'wide'
  do i = 1, 9
    field(:, i) = [(i * 100 + me * 10 + 0.5 * k, k=1, 8)]
  end do
  deep = me
  sync all

  cloud(2:6:2)[after(1)] = cloud(7:9)
  sync all
  call expect(all(cloud(2:6:2)%tag == [7, 8, 9] + 100 * before(1)), 'whole elements of a type')
  call expect(cloud(4)%name == 'p' // achar(48 + before(1)), 'text in elements')
  call expect(cloud(3)[after(1)]%tag == 3 + 100 * after(1), 'between them nothing has changed')
  call expect(all(cloud(1)[after(1)]%place == [real(8) :: 1, after(1), after(1)]), &
    'an array that is a component')
  call expect(cloud(10)[after(1)]%place(3) == 10 * after(1), 'an element of a component')
  sync all
  cloud(10)[after(1)]%place(1:3:2) = [-1.0_8, -2.0_8]
  cloud(1)[after(1)]%place(2) = 77
  sync all
  call expect(all(cloud(10)%place == [-1.0_8, real(me, 8), -2.0_8]), 'a section of a component')
  call expect(cloud(1)%place(2) == 77 .and. cloud(1)%place(3) == me, 'an element of a component is put')
  sync all

  short(:)[after(1)] = long(:)
  sync all
  long(2:3)[after(1)] = short(1)
  wide(1)[after(1)] = 4_'ab'
  sync all
  call expect(all(short == 'abc'), 'text that is cut')
  call expect(all(long(2:3) == 'abc'), 'text that is filled with blanks')
  call expect(wide(1) == 4_'ab  ', 'wide text that is filled with blanks')
  sync all

  part => field(2:8:2, 3:9:3)
  copy = part
  ! Into other columns than `part` has: the neighbour's put must not change what this one reads.
  field(1:4, 1:7:3)[after(1)] = part
  sync all
  call expect(all(field(1:4, 1:7:3)[after(1)] == copy), 'from a pointer with strides')
  call expect(all(field(:, :)[before(1)] == field(:, :)[before(1)]), 'twice the same')
  sync all
  part(:, 1) = field(8:2:-2, 5)[after(1)]
  ! gfortran 12 passes wrong addresses for vector subscripts beside other operands.
  four = [8, 6, 4, 2]  ! gfortran 15 and 16 stop at a list in its place
  line = field(four, 5)[after(1)]
  call expect(all(part(:, 1) == line), 'into a pointer with strides')
  tiny = [7_1, 1_1, 3_1]
  huge_index = [3_8, 3_8, 5_8]
  line = 0
  line(1:3) = field(tiny, 9)[after(1)]
  call expect(all(line(1:3) == field([7, 1, 3], 9) &
    + 10 * (after(1) - me)), 'bytes as subscripts')
  line(1:3) = field(huge_index, 9)[after(1)]
  call expect(all(line(1:3) == field([3, 3, 5], 9) + 10 * (after(1) - me)), &
    'long integers as subscripts')
  sync all

  deep(2, :, 1, :, 3:1:-1, 2, :)[after(1)] = -deep(1, :, 2, :, :, 1, :)
  sync all
  call expect(count(deep < 0) == 36 .and. all(deep(2, :, 1, :, :, 2, :) == -before(1)), '7 dimensions')

  ! The left side of an assignment gets its shape from the right one.
  grown = field(1:5, 2)[after(1)]
  call expect(size(grown) == 5, 'allocated by assignment')
  grown = deep(1, 3:1:-1, 1, 1, 1, 1, 1)[after(1)]
  call expect(size(grown) == 3 .and. all(grown == after(1)), 'shaped by assignment')
  sync all
  call through(field, 3)
  call expect(sum(deep(1, 1, 1, 1, 1, 1, :)[after(1)]) == 2 * after(1), 'in an expression')
  sync all
  call finish()

contains

  subroutine through(a, n)
    integer, intent(in) :: n
    real(4), intent(inout) :: a(8, 9)[*]
    a = me
    sync all
    a(n:, n)[after(1)] = a(n:, n + 1) + 1000
    sync all
    call expect(all(a(n:, n) == before(1) + 1000) .and. all(a(:n - 1, n) == me), 'a dummy argument')
    sync all
  end subroutine
end program
