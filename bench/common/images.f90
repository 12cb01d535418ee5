! SPDX-License-Identifier: BSD-3-Clause
! Shared by the measuring programs with coarrays, which include it before their own lines: the clock,
! the median, lines "@ case metric unit params value [line=ns]" of image 1, and the trip of a cache
! line between images 1 and 2 where there are no others (trip.h says what that is for).
module images
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer(c_int), save, private :: whose(2)[*], joined[*]
  logical, private :: a_pair = .false.

  interface
    subroutine trip_make(whose) bind(c, name='bench_trip_make')
      import c_int
      integer(c_int), intent(out) :: whose(2)
    end subroutine
    integer(c_int) function trip_join(whose) bind(c, name='bench_trip_join')
      import c_int
      integer(c_int), intent(in) :: whose(2)
    end function
    subroutine trip_agree(works) bind(c, name='bench_trip_agree')
      import c_int
      integer(c_int), intent(in), value :: works
    end subroutine
    real(c_double) function trip_measure(which) bind(c, name='bench_trip_measure')
      import c_double, c_int
      integer(c_int), intent(in), value :: which
    end function
  end interface

contains

  ! Called by all images once. On two hosts samples are without trips.
  subroutine line_open()
    a_pair = num_images() == 2
    if (.not. a_pair) return
    if (this_image() == 1) call trip_make(whose)
    sync all
    if (this_image() == 2) then
      whose(:) = whose(:)[1]
      joined = trip_join(whose)
      joined[1] = joined
    end if
    sync all
    call trip_agree(joined)
  end subroutine

  ! In ns; 0 where it is not known. All images call it.
  real(real64) function line_trip()
    line_trip = 0
    if (.not. a_pair) return
    sync all
    line_trip = trip_measure(this_image() - 1)
    if (line_trip < 0) error stop 'the other image does not answer in shared memory'
  end function

  real(real64) function now_ns()
    integer(int64) :: ticks, rate
    call system_clock(ticks, rate)
    now_ns = real(ticks, real64) * (1e9_real64 / real(rate, real64))
  end function

  real(real64) function median(values)
    real(real64), intent(inout) :: values(:)
    real(real64) :: v
    integer :: i, j
    do i = 2, size(values)
      v = values(i)
      do j = i - 1, 1, -1
        if (values(j) <= v) exit
        values(j + 1) = values(j)
      end do
      values(j + 1) = v
    end do
    median = 0.5_real64 * (values((size(values) + 1) / 2) + values(size(values) / 2 + 1))
  end function

  subroutine report(name, metric, unit, params, value, line_ns)
    character(*), intent(in) :: name, metric, unit, params
    real(real64), intent(in) :: value, line_ns
    character(20) :: number
    character(24) :: trip
    if (this_image() /= 1) return
    write (number, '(es14.6)') value
    trip = ' '
    if (line_ns > 0) write (trip, '(a,f0.2)') 'line=', line_ns
    print '(a)', '@ ' // name // ' ' // metric // ' ' // unit // ' ' // params // ' ' // &
      trim(trim(adjustl(number)) // ' ' // trip)
    flush (6)
  end subroutine
end module
