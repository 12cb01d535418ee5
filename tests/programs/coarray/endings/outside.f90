! SPDX-License-Identifier: BSD-3-Clause
! One subscript that leads outside for each first argument; endings_test.py looks at the sentence.
! With `good` all of them stay just inside.
program outside
  use, intrinsic :: iso_fortran_env
  implicit none
  type record
    integer :: first
    integer :: fixed(7)
    integer, allocatable :: own(:)
    integer, pointer :: far(:)
  end type
  character(30) :: case, word
  integer, save :: x(10)[*], m(3, 4)[*]
  character(8), save :: text[*]
  type(record), save :: r[*], rs(3)[*]
  integer, allocatable :: al(:)[:]
  integer(atomic_int_kind), save :: number(2)[*]
  type(event_type), save :: happened(2)[*]
  type(lock_type), save :: guard(2)[*]
  integer :: o, k, v(2), y(10), z
  logical :: there

  call get_command_argument(1, case)
  k = num_images()
  x = 1
  m = 1
  text = 'abcdefgh'
  allocate (r%own(2:6), rs(2)%own(3), r%far(-1:3), al(5)[*])
  r%own = 1
  r%fixed = 1
  r%far = 1
  rs(2)%own = 1
  rs(2)%fixed = 1
  al = 1
  sync all
  ! gfortran passes the length of the whole text: it ends where the text ends.
  word = text[k](3:)
  if (word /= 'cdefgh') error stop 'more than the text'
  sync all
  if (this_image() == 1) text[k](7:) = 'xy'
  sync all
  if (this_image() == k .and. text /= 'abcdefxy') error stop 'other text was changed'
  o = 1
  if (case == 'good') o = 0
  if (this_image() == 1) then
    if (is('put element')) x(10 + o)[k] = 7
    if (is('get element')) z = x(10 + o)[k]
    if (is('get element 0')) z = x(1 - o)[k]
    if (is('put section')) x(8:10 + 9990 * o)[k] = 7
    if (is('get section')) y(1:10 + o) = x(1:10 + o)[k]
    if (is('get section from 0')) y(1:10 + o) = x(1 - o:10)[k]
    if (is('put array')) x(1 + o:10 + o)[k] = y
    if (is('put strided')) x(1:9 + 2 * o:2)[k] = 7
    if (is('put backwards')) x(3:1 - o:-1)[k] = 7
    if (is('put by vector')) then
      v = [10 + o, 2]
      x(v)[k] = [7, 8]
    end if
    if (is('get by vector')) then
      v = [1 - o, 2]
      y(1:2) = x(v)[k]
    end if
    if (is('put row')) m(3 + o, :)[k] = 7
    if (is('put column')) m(:, 4 + o)[k] = 7
    if (is('get text')) word = text[k](8 + o:8 + o)
    if (is('put allocatable')) al(4:5 + o)[k] = 7
    if (is('image to image')) x(1:2)[1] = x(9 + o:10 + o)[k]
    if (is('fixed component')) r[k]%fixed(7 + 60 * o) = 3
    if (is('fixed component 0')) r[k]%fixed(1 - o) = 3
    if (is('component of an element')) rs(3 + o)[k]%first = 3
    if (is('allocatable component')) r[k]%own(6 + o) = 3
    if (is('allocatable component, 1')) z = r[k]%own(2 - o)
    if (is('allocatable component, part')) y(1:3 + o) = r[k]%own(4:6 + o)
    if (is('component by vector')) then
      v = [6 + o, 2]
      y(1:2) = r[k]%own(v)
    end if
    if (is('pointer component')) z = r[k]%far(3 + o)
    if (is('pointer component, part')) r[k]%far(-1:3 + o) = 3
    if (is('element, then component')) z = rs(2)[k]%own(3 + o)
    if (is('allocated')) there = allocated(rs(3 + o)[k]%own)
    if (is('atomic')) call atomic_define(number(2 + o)[k], 3)
    if (is('event post')) event post (happened(2 + o)[k])
    if (is('lock')) then
      lock (guard(2 + o)[k])
      unlock (guard(2 + o)[k])
    end if
  end if
  sync all
  if (this_image() == 1) print '(a)', 'good'

contains

  logical function is(name)
    character(*), intent(in) :: name
    is = case == name .or. case == 'good'
  end function
end program
