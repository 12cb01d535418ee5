! SPDX-License-Identifier: BSD-3-Clause
! Heat in a rod, cut into pieces: each image puts its outer points into its neighbours, synchronises
! with those two only, and steps. The result is checked against the same rod on one image.
program heat
  implicit none
  integer, parameter :: points = 1000, steps = 500
  real(8), parameter :: rate = 0.25d0
  real(8), allocatable :: u(:)[:], next(:), whole(:), after(:)
  integer, allocatable :: neighbours(:)
  integer :: me, n, mine, step, first
  real(8) :: worst

  me = this_image()
  n = num_images()
  mine = (points + n - 1) / n
  first = (me - 1) * mine
  neighbours = pack([me - 1, me + 1], [me > 1, me < n])
  allocate (u(0:mine + 1)[*], next(mine))
  u = start([(first + step, step=0, mine + 1)])
  sync all
  do step = 1, steps
    next = u(1:mine) + rate * (u(0:mine - 1) - 2 * u(1:mine) + u(2:mine + 1))
    sync images (neighbours)  ! they have read their outer points
    u(1:mine) = next
    if (me > 1) u(mine + 1)[me - 1] = next(1)
    if (me < n) u(0)[me + 1] = next(mine)
    sync images (neighbours)  ! their points are here
  end do

  allocate (whole(0:mine * n + 1), after(mine * n))
  whole = start([(step, step=0, mine * n + 1)])
  do step = 1, steps
    after = whole(1:mine * n) + rate * (whole(0:mine * n - 1) - 2 * whole(1:mine * n) &
                                        + whole(2:mine * n + 1))
    whole(1:mine * n) = after
  end do
  worst = maxval(abs(u(1:mine) - whole(first + 1:first + mine)))
  call co_max(worst)
  if (worst > 1d-12) error stop 'the pieces do not fit together'
  if (me == 1) print '(a,i0,a)', 'heat: ', n, ' images agree with one'

contains

  elemental function start(at)
    integer, intent(in) :: at
    real(8) :: start
    start = merge(1d0, 0d0, at > points / 3 .and. at < points / 2)
  end function
end program
