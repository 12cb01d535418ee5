! SPDX-License-Identifier: BSD-3-Clause
! Locks: exclusion, arrays of locks that exclude each other, ACQUIRED_LOCK=, stat values.
program locks
  use check
  use, intrinsic :: iso_fortran_env
  implicit none
  type(lock_type), save :: one[*], several(4)[*]
  type(lock_type), allocatable :: made(:)[:]
  integer, save :: counter[*] = 0, counters(4)[*] = 0
  integer :: i, k, error, me, n, owner, seen
  logical :: got
  character(60) :: text

  me = this_image()
  n = num_images()
  allocate (made(3)[*])
  do i = 1, 100
    lock (one[1])
    seen = counter[1]  ! gfortran 15 would take its own in one statement
    counter[1] = seen + 1
    unlock (one[1])
  end do
  sync all
  if (me == 1) call expect(counter == 100 * n, 'a lock excludes')
  sync all

  ! Different elements on different images exclude only their own.
  do i = 1, 50
    k = mod(i + me, 4) + 1
    owner = after(k)
    lock (several(k)[owner])
    seen = counters(k)[owner]
    counters(k)[owner] = seen + 1
    unlock (several(k)[owner])
  end do
  sync all
  if (me == 1) then
    k = 0
    do i = 1, n
      k = k + sum(counters(:)[i])
    end do
    call expect(k == 50 * n, 'an array of locks excludes by element')
  end if
  sync all

  ! A held lock is told to who only asks; its neighbour in the array is free.
  if (me == 1) lock (made(2)[n])
  sync all
  if (me /= 1) then
    got = .true.
    lock (made(2)[n], acquired_lock=got)
    call expect(.not. got, 'held by another: not acquired')
    got = .false.
    lock (made(3)[me], acquired_lock=got)
    call expect(got, 'free: acquired')
    unlock (made(3)[me])
    error = 0
    unlock (made(2)[n], stat=error, errmsg=text)
    call expect(error == stat_locked_other_image, 'unlock of what another holds')
  else
    error = 0
    text = ''
    lock (made(2)[n], stat=error, errmsg=text)
    call expect(error == stat_locked, 'lock of what this image holds')
    call expect(text /= '', 'errmsg of a second lock')
  end if
  error = 0
  unlock (several(1)[1], stat=error)
  call expect(error == stat_unlocked, 'unlock of what nobody holds')
  sync all
  if (me == 1) then
    error = 9
    unlock (made(2)[n], stat=error, errmsg=text)
    call expect(error == 0, 'stat of unlock')
  end if
  sync all
  got = .false.
  lock (made(1), acquired_lock=got, stat=error)
  call expect(got .and. error == 0, 'its own lock')
  unlock (made(1))
  deallocate (made)
  call finish()
end program
