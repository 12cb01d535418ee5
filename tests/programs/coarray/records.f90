! SPDX-License-Identifier: BSD-3-Clause
! CO_REDUCE of derived types: how a function takes and returns them depends on their members.
! CO_BROADCAST of their allocatable components.
module types
  implicit none
  type found  ! the greatest and where it was
    real(8) :: value
    integer :: place
  end type
  type counted
    integer(8) :: count
    real(8) :: sum
  end type
  type point
    real(4) :: x, y
  end type
  type span
    real(8) :: low, high
  end type
  type box
    real(8) :: low(2), high(2)
  end type
  type colour
    real(4) :: red, green, blue
  end type
  type date
    integer(2) :: year
    integer(1) :: month
  end type
  type corner
    integer :: i(3)
  end type
  type table
    integer :: keys(5)
    real(8) :: values(4)
    character(3) :: name
  end type
  type shelf
    integer :: height = 0
    real(4), allocatable :: books(:)
    type(point), allocatable :: corners(:, :)
    complex, allocatable :: mark
    integer(1), allocatable :: notes(:)
    integer(8), allocatable :: never(:), nor_this
  end type
  type case
    integer :: width = 0
    type(shelf), allocatable :: shelves(:)
    integer(8), allocatable :: weights(:)
  end type

contains

  pure function best(a, b) result(c)
    type(found), intent(in) :: a, b
    type(found) :: c
    c = a
    if (b%value > a%value) c = b
  end function
  pure function join(a, b) result(c)
    type(counted), intent(in) :: a, b
    type(counted) :: c
    c%count = a%count + b%count
    c%sum = a%sum + b%sum
  end function
  pure function add_points(a, b) result(c)
    type(point), intent(in) :: a, b
    type(point) :: c
    c = point(a%x + b%x, max(a%y, b%y))
  end function
  pure function hull(a, b) result(c)
    type(span), intent(in) :: a, b
    type(span) :: c
    c = span(min(a%low, b%low), max(a%high, b%high))
  end function
  pure function hull_values(a, b) result(c)
    type(span), value :: a, b
    type(span) :: c
    c = span(min(a%low, b%low), max(a%high, b%high))
  end function
  pure function around(a, b) result(c)
    type(box), intent(in) :: a, b
    type(box) :: c
    c%low = min(a%low, b%low)
    c%high = max(a%high, b%high)
  end function
  pure function around_values(a, b) result(c)
    type(box), value :: a, b
    type(box) :: c
    c%low = min(a%low, b%low)
    c%high = max(a%high, b%high)
  end function
  pure function mixed(a, b) result(c)
    type(colour), intent(in) :: a, b
    type(colour) :: c
    c = colour(a%red + b%red, max(a%green, b%green), min(a%blue, b%blue))
  end function
  pure function later(a, b) result(c)
    type(date), intent(in) :: a, b
    type(date) :: c
    c = date(max(a%year, b%year), max(a%month, b%month))
  end function
  pure function far(a, b) result(c)
    type(corner), intent(in) :: a, b
    type(corner) :: c
    c%i = max(a%i, b%i)
  end function
  pure function merged(a, b) result(c)
    type(table), intent(in) :: a, b
    type(table) :: c
    c%keys = max(a%keys, b%keys)
    c%values = a%values + b%values
    c%name = max(a%name, b%name)
  end function
  pure function merged_values(a, b) result(c)
    type(table), value :: a, b
    type(table) :: c
    c%keys = max(a%keys, b%keys)
    c%values = a%values + b%values
    c%name = max(a%name, b%name)
  end function
end module

program records
  use check
  use types
  implicit none
  type(found) :: f, many(50)
  type(counted) :: s, row(4)
  type(point) :: p
  type(span) :: h
  type(date) :: d
  type(box) :: x
  type(colour) :: y
  type(corner) :: k
  type(table) :: t
  integer :: i, me, n, top

  me = this_image()
  n = num_images()
  top = n / 2 + 1
  do i = 1, 3
    f = found(merge(100d0, real(me, 8), me == top), me)
    call co_reduce(f, best)
    call expect(f%value == 100 .and. f%place == top, 'the place of the greatest')
    s = counted(me, 0.5d0 * me)
    call co_reduce(s, join)
    call expect(s%count == n * (n + 1) / 2 .and. s%sum == 0.25d0 * n * (n + 1), 'count and sum')
    row = counted(me, 1d0)
    call co_reduce(row, join, result_image=n)
    if (me == n) call expect(all(row%count == n * (n + 1) / 2) .and. all(row%sum == n), 'a row')
    p = point(me, 3 * me)
    call co_reduce(p, add_points)
    call expect(p%x == n * (n + 1) / 2 .and. p%y == 3 * n, 'points')
    h = span(-me, me)
    call co_reduce(h, hull)
    call expect(h%low == -n .and. h%high == n, 'hull')
    h = span(-me, 2 * me)
    call co_reduce(h, hull_values)
    call expect(h%low == -n .and. h%high == 2 * n, 'hull by value')
    x = box([-me, 2], [me, 3])
    call co_reduce(x, around)
    call expect(all(x%low == [-n, 2]) .and. all(x%high == [n, 3]), 'four reals')
    x = box([-me, 2], [2 * me, 3])
    call co_reduce(x, around_values)
    call expect(all(x%low == [-n, 2]) .and. all(x%high == [2 * n, 3]), 'four reals by value')
    y = colour(me, me, me)
    call co_reduce(y, mixed)
    call expect(y%red == n * (n + 1) / 2 .and. y%green == n .and. y%blue == 1, 'three reals')
    d = date(int(2000 + me, 2), int(me, 1))
    call co_reduce(d, later)
    call expect(d%year == 2000 + n .and. d%month == n, 'less than eight bytes')
    k%i = [me, -me, 7]
    call co_reduce(k, far)
    call expect(all(k%i == [n, -1, 7]), 'twelve bytes')
    t%keys = me
    t%values = 0.5d0
    t%name = 'ab' // achar(96 + me)
    call co_reduce(t, merged)
    call expect(all(t%keys == n) .and. all(t%values == 0.5d0 * n) .and. t%name == 'ab' // achar(96 + n), &
      'in memory')
    t%keys = me
    t%values = 0.5d0
    call co_reduce(t, merged_values)
    call expect(all(t%keys == n) .and. all(t%values == 0.5d0 * n), 'in memory, by value')
  end do
  many%value = [(real(mod(me * 7 + i, 13), 8), i=1, 50)]
  many%place = me
  call co_reduce(many, best)
  do i = 1, 50
    call expect(mod(many(i)%place * 7 + i, 13) == many(i)%value, 'each of an array')
  end do
  call shelves(1, 3)
  call shelves(n, 70000)
  call cases(1)
  call cases(n)
  call finish()

contains

  ! Allocatable components of one size everywhere, and some that are not allocated anywhere.
  subroutine shelves(source, books)
    integer, intent(in) :: source, books
    type(shelf) :: one
    type(shelf), allocatable :: two(:)
    type(point), target :: row(4)
    real(4), pointer :: xs(:)
    integer :: j
    call fill(one, books)
    call co_broadcast(one, source)
    call right(one, source)
    allocate(two(2))
    do j = 1, 2
      call fill(two(j), books)
    end do
    call co_broadcast(two, source)
    do j = 1, 2
      call right(two(j), source)
    end do
    row%x = me
    row%y = me
    xs => row%y
    call co_broadcast(xs, source)
    call expect(all(row%y == source) .and. all(row%x == me), 'a pointer to a component')
  end subroutine

  ! Allocatable components of allocatable components.
  subroutine cases(source)
    integer, intent(in) :: source
    type(case) :: whole
    type(case), allocatable :: row(:)
    integer :: i
    call build(whole)
    call co_broadcast(whole, source)
    call stands(whole, source)
    allocate(row(3))
    do i = 1, 3
      call build(row(i))
    end do
    call co_broadcast(row, source)
    do i = 1, 3
      call stands(row(i), source)
    end do
  end subroutine

  subroutine build(c)
    type(case), intent(out) :: c
    integer :: i
    allocate(c%shelves(5), c%weights(3))
    c%width = me
    c%weights = 1000 + me
    do i = 1, 5
      call fill(c%shelves(i), 10 * i)
    end do
  end subroutine

  subroutine stands(c, source)
    type(case), intent(in) :: c
    integer, intent(in) :: source
    integer :: i
    call expect(c%width == source .and. all(c%weights == 1000 + source), 'a case')
    do i = 1, 5
      call expect(size(c%shelves(i)%books) == 10 * i, 'books in a case')
      call right(c%shelves(i), source)
    end do
  end subroutine

  subroutine fill(s, books)
    type(shelf), intent(out) :: s
    integer, intent(in) :: books
    integer :: i
    allocate(s%books(books), s%corners(2, 2), s%mark, s%notes(0:4))
    s%height = me
    s%books = [(real(i + me), i=1, books)]
    s%corners = point(me, -me)
    s%mark = cmplx(0, me)
    s%notes = int(me, 1)
  end subroutine

  subroutine right(s, source)
    type(shelf), intent(in) :: s
    integer, intent(in) :: source
    integer :: i
    call expect(s%height == source .and. s%mark == cmplx(0, source), 'scalars of a shelf')
    call expect(all(s%books == [(real(i + source), i=1, size(s%books))]), 'books of a shelf')
    call expect(all(s%corners%x == source) .and. all(s%corners%y == -source), 'corners of a shelf')
    call expect(all(s%notes == source) .and. lbound(s%notes, 1) == 0, 'notes of a shelf')
    call expect(.not. (allocated(s%never) .or. allocated(s%nor_this)), 'what was never allocated')
  end subroutine
end program
