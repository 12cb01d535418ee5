! SPDX-License-Identifier: BSD-3-Clause
! The pressure solver of the Himeno benchmark, written anew: Jacobi steps of a 19-point stencil with
! seven coefficient arrays, a boundary array and a source term, in single precision. One part of the
! grid: all of i and j, the planes 0 to planes + 1 of k, of which the outer two are neighbours' or
! the wall. Planes are stored one wider and higher than they are, lest powers of two make all arrays
! share cache lines' places. Called from Fortran and from C: all programs compute by the same code,
! in arrays that lie in one block at the same distances: where allocators put them, within a page,
! decides 7% (the processor compares the low 12 bits of addresses first).
module himeno_kernel
  use, intrinsic :: iso_c_binding
  implicit none
  real(c_float), parameter :: omega = 0.8_c_float
  integer, parameter :: arrays = 13, page = 4096 / 4
  real(c_float), allocatable, target :: block(:)
  integer :: at(arrays)  ! of a (4), b (3), c (3), boundary, source and next in the block
  integer :: ni = 0, nj = 0, planes = 0

contains

  ! Grid ni x nj x nk, of which this part holds the planes first + 1 to first + count (k from 0).
  subroutine himeno_set_up(grid, first, count, p) bind(c)
    integer(c_int), intent(in) :: grid(3)
    integer(c_int), intent(in), value :: first, count
    real(c_float), intent(out) :: p(grid(1) + 1, grid(2) + 1, 0:count + 1)
    integer :: k
    ni = grid(1)
    nj = grid(2)
    planes = count
    call allocate_block((ni + 1) * (nj + 1) * (planes + 2))
    block = 0
    call fill(1, 3, 1.0_c_float)
    call fill(4, 4, 1.0_c_float / 6)
    call fill(8, 11, 1.0_c_float)
    do k = 0, count + 1
      p(:, :, k) = real((first + k)**2, c_float) / real((grid(3) - 1)**2, c_float)
    end do
    call copy(p, block(at(13)))
  contains
    subroutine fill(first, last, value)
      integer, intent(in) :: first, last
      real(c_float), intent(in) :: value
      integer :: i
      do i = first, last
        block(at(i):at(i) + (ni + 1) * (nj + 1) * (planes + 2) - 1) = value
      end do
    end subroutine
    subroutine copy(from, to)
      real(c_float), intent(in) :: from((ni + 1) * (nj + 1) * (planes + 2))
      real(c_float), intent(out) :: to((ni + 1) * (nj + 1) * (planes + 2))
      to = from
    end subroutine
  end subroutine

  ! Each array begins a sixteenth of a page further on within its page than the one before.
  subroutine allocate_block(length)
    integer, intent(in) :: length
    integer :: i
    integer(c_intptr_t) :: begin
    if (allocated(block)) deallocate (block)
    allocate (block(arrays * (length + 2 * page)))
    begin = transfer(c_loc(block), begin)
    at(1) = 1 + int(modulo(-begin, int(4 * page, c_intptr_t))) / 4
    do i = 2, arrays
      at(i) = at(1) + (i - 1) * (modulo(-length, page) + length + page / 16)
    end do
  end subroutine

  ! One step into `next` and back; returns the sum of squares of the changes.
  function himeno_step(p) bind(c) result(gosa)
    real(c_float), intent(inout) :: p(ni + 1, nj + 1, 0:planes + 1)
    real(c_double) :: gosa
    gosa = step(p, block(at(1)), block(at(2)), block(at(3)), block(at(4)), block(at(5)), &
      block(at(6)), block(at(7)), block(at(8)), block(at(9)), block(at(10)), block(at(11)), &
      block(at(12)), block(at(13)))
  end function

  function step(p, a1, a2, a3, a4, b1, b2, b3, c1, c2, c3, boundary, source, next) result(gosa)
    real(c_float), intent(inout) :: p(ni + 1, nj + 1, 0:planes + 1)
    real(c_float), intent(in), dimension(ni + 1, nj + 1, 0:planes + 1) :: a1, a2, a3, a4, b1, b2, &
      b3, c1, c2, c3, boundary, source
    real(c_float), intent(inout) :: next(ni + 1, nj + 1, 0:planes + 1)
    real(c_double) :: gosa
    real(c_float) :: s, change, row
    integer :: i, j, k
    gosa = 0
    do k = 1, planes
      do j = 2, nj - 1
        row = 0
        do i = 2, ni - 1
          s = a1(i, j, k) * p(i + 1, j, k) + a2(i, j, k) * p(i, j + 1, k) &
            + a3(i, j, k) * p(i, j, k + 1) &
            + b1(i, j, k) * (p(i + 1, j + 1, k) - p(i + 1, j - 1, k) &
                           - p(i - 1, j + 1, k) + p(i - 1, j - 1, k)) &
            + b2(i, j, k) * (p(i, j + 1, k + 1) - p(i, j - 1, k + 1) &
                           - p(i, j + 1, k - 1) + p(i, j - 1, k - 1)) &
            + b3(i, j, k) * (p(i + 1, j, k + 1) - p(i - 1, j, k + 1) &
                           - p(i + 1, j, k - 1) + p(i - 1, j, k - 1)) &
            + c1(i, j, k) * p(i - 1, j, k) + c2(i, j, k) * p(i, j - 1, k) &
            + c3(i, j, k) * p(i, j, k - 1) + source(i, j, k)
          change = (s * a4(i, j, k) - p(i, j, k)) * boundary(i, j, k)
          row = row + change * change
          next(i, j, k) = p(i, j, k) + omega * change
        end do
        gosa = gosa + row
      end do
    end do
    p(2:ni - 1, 2:nj - 1, 1:planes) = next(2:ni - 1, 2:nj - 1, 1:planes)
  end function

  ! Interior planes of `parts` parts of a grid of nk planes: part `at` (from 0) begins behind plane
  ! `first` and has `count`.
  subroutine himeno_share(nk, parts, at, first, count) bind(c)
    integer(c_int), intent(in), value :: nk, parts, at
    integer(c_int), intent(out) :: first, count
    integer :: all
    all = nk - 2
    count = all / parts + merge(1, 0, at < mod(all, parts))
    first = at * (all / parts) + min(at, mod(all, parts))
  end subroutine

  ! The residual after `steps` steps on the whole grid, computed here alone.
  function himeno_alone(grid, steps) bind(c) result(gosa)
    integer(c_int), intent(in) :: grid(3)
    integer(c_int), intent(in), value :: steps
    real(c_double) :: gosa
    real(c_float), allocatable :: p(:, :, :)
    integer :: step
    allocate (p(grid(1) + 1, grid(2) + 1, 0:grid(3) - 1))
    call himeno_set_up(grid, 0, grid(3) - 2, p)
    gosa = 0
    do step = 1, steps
      gosa = himeno_step(p)
    end do
  end function

  pure function flops(grid)
    integer(c_int), intent(in) :: grid(3)
    real(c_double) :: flops
    flops = 34.0_c_double * (grid(1) - 2) * real(grid(2) - 2, c_double) * (grid(3) - 2)
  end function

  ! The sizes by name; 0 if there is none.
  pure function grid_of(name) result(grid)
    character(*), intent(in) :: name
    integer(c_int) :: grid(3)
    select case (name)
    case ('XS')
      grid = [64, 32, 32]
    case ('S')
      grid = [128, 64, 64]
    case ('M')
      grid = [256, 128, 128]
    case default
      grid = 0
    end select
  end function

  ! From the words sizes=XS,S,M and budget_ms=N, where they are given.
  subroutine read_words(sizes, budget_s)
    character(*), intent(inout) :: sizes
    real(c_double), intent(inout) :: budget_s
    character(40) :: word
    integer :: i
    do i = 1, command_argument_count()
      call get_command_argument(i, word)
      if (word(:6) == 'sizes=') sizes = word(7:)
      if (word(:10) == 'budget_ms=') then
        read (word(11:), *) budget_s
        budget_s = budget_s / 1000
      end if
    end do
  end subroutine

  function now_s()
    real(c_double) :: now_s
    integer(c_int64_t) :: ticks, rate
    call system_clock(ticks, rate)
    now_s = real(ticks, c_double) / real(rate, c_double)
  end function
end module
