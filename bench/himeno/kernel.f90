! The pressure solver of the Himeno benchmark, written anew: Jacobi steps of a 19-point stencil with
! seven coefficient arrays, a boundary array and a source term, in single precision. One part of the
! grid: all of i and j, the planes 0 to planes + 1 of k, of which the outer two are neighbours' or
! the wall. Planes are stored one wider and higher than they are, lest powers of two make all arrays
! share cache lines' places. Called from Fortran and from C: all programs compute by the same code.
module himeno_kernel
  use, intrinsic :: iso_c_binding
  implicit none
  real(c_float), parameter :: omega = 0.8_c_float
  real(c_float), allocatable, target :: a(:, :, :, :), b(:, :, :, :), c(:, :, :, :)
  real(c_float), allocatable, target :: boundary(:, :, :), source(:, :, :), next(:, :, :)
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
    if (allocated(a)) deallocate (a, b, c, boundary, source, next)
    allocate (a(ni + 1, nj + 1, 0:planes + 1, 4), b(ni + 1, nj + 1, 0:planes + 1, 3))
    allocate (c(ni + 1, nj + 1, 0:planes + 1, 3), boundary(ni + 1, nj + 1, 0:planes + 1))
    allocate (source(ni + 1, nj + 1, 0:planes + 1), next(ni + 1, nj + 1, 0:planes + 1))
    a(:, :, :, 1:3) = 1
    a(:, :, :, 4) = 1.0_c_float / 6
    b = 0
    c = 1
    boundary = 1
    source = 0
    do k = 0, count + 1
      p(:, :, k) = real((first + k)**2, c_float) / real((grid(3) - 1)**2, c_float)
    end do
    next = p
  end subroutine

  ! One step into `next` and back; returns the sum of squares of the changes.
  function himeno_step(p) bind(c) result(gosa)
    real(c_float), intent(inout) :: p(ni + 1, nj + 1, 0:planes + 1)
    real(c_double) :: gosa
    real(c_float) :: s, change, row
    integer :: i, j, k
    gosa = 0
    do k = 1, planes
      do j = 2, nj - 1
        row = 0
        do i = 2, ni - 1
          s = a(i, j, k, 1) * p(i + 1, j, k) + a(i, j, k, 2) * p(i, j + 1, k) &
            + a(i, j, k, 3) * p(i, j, k + 1) &
            + b(i, j, k, 1) * (p(i + 1, j + 1, k) - p(i + 1, j - 1, k) &
                             - p(i - 1, j + 1, k) + p(i - 1, j - 1, k)) &
            + b(i, j, k, 2) * (p(i, j + 1, k + 1) - p(i, j - 1, k + 1) &
                             - p(i, j + 1, k - 1) + p(i, j - 1, k - 1)) &
            + b(i, j, k, 3) * (p(i + 1, j, k + 1) - p(i - 1, j, k + 1) &
                             - p(i + 1, j, k - 1) + p(i - 1, j, k - 1)) &
            + c(i, j, k, 1) * p(i - 1, j, k) + c(i, j, k, 2) * p(i, j - 1, k) &
            + c(i, j, k, 3) * p(i, j, k - 1) + source(i, j, k)
          change = (s * a(i, j, k, 4) - p(i, j, k)) * boundary(i, j, k)
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
