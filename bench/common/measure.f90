! SPDX-License-Identifier: BSD-3-Clause
! Shared by the measuring programs in Fortran, which include it before their own lines: what
! measure.h and line.h are for those in C. The same words "key=value", the same lines "@ ...".
module measure
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  implicit none
  integer, parameter :: most_batches = 200, most_samples = 10

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

  ! As line_open() and line_trip() in line.h.
  subroutine line_open(rank)
    integer, intent(in) :: rank
    integer(c_int) :: whose(2), works
    if (rank > 1) return
    if (rank == 0) then
      call trip_make(whose)
      call MPI_Send(whose, 2, MPI_INTEGER, 1, 1, MPI_COMM_WORLD)
      call MPI_Recv(works, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    else
      call MPI_Recv(whose, 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      works = trip_join(whose)
      call MPI_Send(works, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD)
    end if
    call trip_agree(works)
  end subroutine

  real(real64) function line_trip(rank)
    integer, intent(in) :: rank
    line_trip = 0
    if (rank <= 1) line_trip = trip_measure(rank)
    if (line_trip < 0) call stop_all('the other rank does not answer in shared memory')
  end function

  ! The value of the word `key`=..., or `otherwise`.
  real(real64) function option(key, otherwise)
    character(*), intent(in) :: key
    real(real64), intent(in) :: otherwise
    character(80) :: word
    integer :: i
    option = otherwise
    do i = 1, command_argument_count()
      call get_command_argument(i, word)
      if (index(word, key // '=') == 1) read (word(len(key) + 2:), *) option
    end do
  end function

  ! Starts MPI. Rank 0 prints which library answers.
  subroutine start(least)
    integer, intent(in) :: least
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: rank, ranks, length
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    if (ranks < least) call stop_all('not enough ranks started as one job')
    call MPI_Get_library_version(version, length)
    if (rank == 0) print '(2a)', '@version ', version(:scan(version(:length) // ',', ',' // new_line('a')) - 1)
  end subroutine

  subroutine stop_all(why)
    character(*), intent(in) :: why
    write (0, '(a)') why
    call MPI_Abort(MPI_COMM_WORLD, 2)
  end subroutine

  subroutine report(name, metric, unit, params, value, line_ns)
    character(*), intent(in) :: name, metric, unit, params
    real(real64), intent(in) :: value, line_ns
    character(24) :: number, trip
    write (number, '(es16.8)') value
    trip = ' '
    if (line_ns > 0) write (trip, '(a,f0.2)') 'line=', line_ns
    print '(a)', '@ ' // name // ' ' // metric // ' ' // unit // ' ' // params // ' ' // &
        trim(trim(adjustl(number)) // ' ' // trip)
    flush (6)
  end subroutine

  real(real64) function median(values)
    real(real64), intent(inout) :: values(:)
    real(real64) :: one
    integer :: i, k
    do i = 2, size(values)
      one = values(i)
      do k = i - 1, 1, -1
        if (values(k) <= one) exit
        values(k + 1) = values(k)
      end do
      values(k + 1) = one
    end do
    median = 0.5 * (values((size(values) + 1) / 2) + values(size(values) / 2 + 1))
  end function

  ! How many times to repeat, and in how many batches, by what one takes: as make_plan() in
  ! measure.h. All ranks get rank 0's.
  subroutine make_plan(ns_each, budget_ms, batches, repetitions)
    real(real64), intent(in) :: ns_each, budget_ms
    integer, intent(out) :: batches, repetitions
    integer :: both(2)
    real(real64) :: each
    both(1) = most_batches
    each = budget_ms * 1d6 / most_batches / max(ns_each, 1d0)
    if (each < 1) then
      both(1) = max(3, int(budget_ms * 1d6 / ns_each))
      each = 1
    end if
    both(2) = int(min(each, 20000d0))
    call MPI_Bcast(both, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    batches = both(1)
    repetitions = both(2)
  end subroutine

end module
