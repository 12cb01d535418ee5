! SPDX-License-Identifier: BSD-3-Clause
! Image 1 works on what belongs to the last image, whose host is killed meanwhile by whoever has
! started this; tests/hosts/amid_test.py. With `sinew run --survive` it goes on.
program amid
  use, intrinsic :: iso_fortran_env
  implicit none
  integer, parameter :: many = 100000
  character(30) :: what
  integer, allocatable :: box(:)[:]
  integer(atomic_int_kind), save :: number[*]
  type(lock_type), save :: guard[*]
  integer :: error, me, n, i
  integer, allocatable :: got(:)

  call get_command_argument(1, what)
  me = this_image()
  n = num_images()
  allocate (box(many)[*], got(many))
  box = n
  got = n
  sync all
  if (me == 1) then
    print '(a)', 'begun'
    flush (6)
  end if
  error = 0
  select case (what)
  case ('puts')
    do while (me == 1 .and. error == 0)
      box(:)[n] = got
      do i = 1, 100
        box(i)[n] = i
      end do
      box(1:many:7)[n] = 5
      call atomic_add(number[n], 1, stat=error)
    end do
  case ('gets')
    do while (me == 1 .and. error == 0)
      got = 0
      got = box(:)[n]
      if (any(got /= n)) error stop 21
      call atomic_add(number[n], 1, stat=error)
    end do
  case ('lock')
    ! Those of the last image, for which each waits in turn.
    do while (error == 0)
      lock (guard[n], stat=error)
      if (error == 0) unlock (guard[n], stat=error)
    end do
  case ('barrier')
    do while (error == 0)
      sync all (stat=error)
    end do
  case default
    error stop 'nothing of that name'
  end select
  do while (error == 0)  ! those who have done nothing yet
    sync all (stat=error)
  end do
  ! Another one may have come to its end in the meantime, which counts for more.
  if (error /= stat_failed_image .and. error /= stat_stopped_image) error stop 22
  if (image_status(n) /= stat_failed_image) error stop 23
  if (me == 1) print '(a)', 'went on without it'
end program
